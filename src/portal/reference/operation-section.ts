import { codeBlock } from '../code-block.js'
import { html } from '../html.js'
import type { Html } from '../html.js'
import type { PortalWords } from '../portal-words-en.js'
import { inline, markdown } from './markdown.js'
import type { Answer, Operation } from './operations.js'
import { partAt, refName, textAt } from './parts.js'
import type { Part } from './parts.js'
import { partsTable } from './parts-table.js'
import type { TableRow } from './parts-table.js'
import { schemaId, typeText } from './schema.js'

const errorStatusMin = 400

/** The id of the row group that explains an error status. */
export function errorId(status: number): string {
  return `error-${status}`
}

/** One operation: what it does, a command to copy, its parameters, body and answers. */
export function operationSection(words: PortalWords, operation: Operation, command: string): Html {
  const { id, summary, description, head, body } = operation
  return html`<section class="operation" aria-labelledby="${id}">
    <h3 id="${id}">${operationTitle(operation)}</h3>
    <p class="lead">${sentence(summary)}</p>
    ${markdown(description)}
    ${head === '' ? null : html`<p><code>HEAD</code> ${inline(lowerFirst(head))}</p>`}
    ${codeBlock(words, command)} ${parametersTable(operation)} ${filtersNote(operation)}
    ${body && bodyText(body.schema)} ${answersTable(operation)}
  </section>`
}

/** The method and the path, as they are sent. */
export function operationTitle({ method, path }: Operation): Html {
  return html`<code class="method">${method}</code> <code>${path}</code>`
}

/** The summary as a sentence of its own. */
export function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}

function parametersTable({ id, parameters }: Operation): Html | null {
  if (parameters.length === 0) return null
  return html`<h4 id="${id}-parameters">Parameters</h4>
    ${partsTable({
      labelId: `${id} ${id}-parameters`,
      headings: ['Name', 'Type', 'Description', 'Example'],
      rows: parameters.map(parameterRow),
    })}`
}

function parameterRow(parameter: Part): TableRow {
  const isRequired = parameter['required'] === true
  const isHeader = textAt(parameter, 'in') === 'header'
  const example = parameter['example']
  const mark = [isHeader ? 'header' : '', isRequired ? 'required' : '']
    .filter((text) => text !== '')
    .join(', ')
  return {
    name: [
      html`<code>${textAt(parameter, 'name')}</code>`,
      mark === '' ? '' : html` <small>${mark}</small>`,
    ],
    cells: [
      typeText(partAt(parameter, 'schema')),
      inline(textAt(parameter, 'description')),
      example === undefined ? [] : [html`<code>${[example].flat().join(',')}</code>`],
    ],
  }
}

function filtersNote({ filters }: Operation): Html | null {
  if (filters.length === 0) return null
  return html`<p>
    Filters: <a href="#filters">${filters.length} columns</a> as <code>column=operator.value</code>.
  </p>`
}

function bodyText(schema: Part): Html {
  const name = refName(schema)
  return html`<p>Body: <code>application/json</code>, <a href="#${schemaId(name)}">${name}</a>.</p>`
}

function answersTable({ id, answers }: Operation): Html {
  const good = answers.filter(({ status }) => status < errorStatusMin)
  const errors = answers.filter(({ status }) => status >= errorStatusMin)
  return html`<h4 id="${id}-answers">Answers</h4>
    ${partsTable({
      labelId: `${id} ${id}-answers`,
      headings: ['Status', 'Answer'],
      rows: [...good.map(answerRow), ...errors.map(errorRow)],
    })}`
}

function answerRow({ status, part }: Answer): TableRow {
  const content = partAt(part, 'content')
  const types = Object.keys(content)
  const schema = partAt(partAt(content, 'application/json'), 'schema')
  const headers = Object.keys(partAt(part, 'headers'))
  const line = (title: string, texts: readonly Html[]) =>
    texts.length === 0 ? '' : html`<p class="muted">${title}: ${separated(texts)}</p>`
  return {
    name: [html`<code>${status}</code>`],
    cells: [
      [
        html`<p>
          ${inline(textAt(part, 'description'))}
          ${refName(schema) === '' ? null : html` JSON: ${typeText(schema)}.`}
        </p>`,
        line(
          'Formats',
          types.map((type) => html`<code>${type}</code>`),
        ),
        line(
          'Headers',
          headers.map((name) => html`<a href="#${headerId(name)}">${name}</a>`),
        ),
      ],
    ],
  }
}

/** The id of the row that explains a header. */
export function headerId(name: string): string {
  return `header-${name.toLowerCase()}`
}

function separated(texts: readonly Html[]): readonly (Html | string)[] {
  return texts.flatMap((text, index) => (index === 0 ? [text] : [', ', text]))
}

/** An error's codes; their meaning is explained once on the page. */
function errorRow({ status, part }: Answer): TableRow {
  return {
    name: [html`<a href="#${errorId(status)}"><code>${status}</code></a>`],
    cells: [separated(errorCodes(part).map((code) => html`<code>${code}</code>`))],
  }
}

/** The codes in the lines of an error's description. */
function errorCodes(part: Part): readonly string[] {
  const lines = textAt(part, 'description').matchAll(/^`(\w+)`: /gm)
  return [...lines].map(([, code = '']) => code)
}
