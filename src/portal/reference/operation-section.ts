import { codeBlock } from '../code-block.js'
import { html } from '../html.js'
import type { Html } from '../html.js'
import type { PortalWords } from '../portal-words-en.js'
import { inline, markdown } from './markdown.js'
import type { Answer, Operation } from './operations.js'
import { partAt, refName, textAt } from './parts.js'
import type { Part } from './parts.js'
import { marked, partsTable } from './parts-table.js'
import type { TableRow } from './parts-table.js'
import { schemaId, typeText } from './schema.js'

const errorStatusMin = 400

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

function sentence(summary: string): string {
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
      headings: ['Name', 'Type', 'Description'],
      rows: parameters.map(parameterRow),
    })}`
}

function parameterRow(parameter: Part): TableRow {
  const isHeader = textAt(parameter, 'in') === 'header'
  const marks = [isHeader ? 'header' : [], parameter['required'] === true ? 'required' : []].flat()
  const example = parameter['example']
  return {
    name: [html`<code>${textAt(parameter, 'name')}</code>`, marked(marks.join(', '))],
    cells: [
      typeText(partAt(parameter, 'schema')),
      [
        html`<p>${inline(textAt(parameter, 'description'))}</p>`,
        example === undefined
          ? ''
          : html`<p class="muted">Example: <code>${[example].flat().join(',')}</code></p>`,
      ],
    ],
  }
}

function filtersNote({ filters }: Operation): Html | null {
  if (filters.length === 0) return null
  return html`<p>
    Filters: <a href="#columns">${filters.length} columns</a> as <code>column=operator.value</code>.
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
      rows: good.map(answerRow),
    })}
    <p><a href="#errors">Errors</a>: ${separated(errors.map(errorText))}.</p>`
}

function answerRow({ status, part }: Answer): TableRow {
  const content = partAt(part, 'content')
  const schema = partAt(partAt(content, 'application/json'), 'schema')
  const headers = Object.keys(partAt(part, 'headers'))
  return {
    name: [html`<code>${status}</code>`],
    cells: [
      [
        html`<p>
          ${inline(textAt(part, 'description'))}
          ${refName(schema) === '' ? null : html`JSON: ${typeText(schema)}.`}
        </p>`,
        codesLine('Formats', Object.keys(content)),
        codesLine('Headers', headers),
      ],
    ],
  }
}

function codesLine(title: string, texts: readonly string[]): Html | string {
  if (texts.length === 0) return ''
  return html`<p class="muted">${title}: ${codes(texts)}</p>`
}

/** A status with its codes; the page explains them once for all operations. */
function errorText({ status, part }: Answer): Html {
  const lines = textAt(part, 'description').matchAll(/^`(\w+)`: /gm)
  return html`${status} ${codes([...lines].map(([, code = '']) => code))}`
}

function codes(texts: readonly string[]): readonly (Html | string)[] {
  return separated(texts.map((text) => html`<code>${text}</code>`))
}

function separated(texts: readonly Html[]): readonly (Html | string)[] {
  return texts.flatMap((text, index) => (index === 0 ? [text] : [', ', text]))
}
