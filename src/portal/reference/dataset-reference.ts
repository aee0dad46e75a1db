import type { ReferenceEntry } from '../../service/reference.js'
import { html } from '../html.js'
import type { Html } from '../html.js'
import { layout } from '../layout.js'
import type { PageContext } from '../page-context.js'
import { markdown } from './markdown.js'
import { operationsOf } from './operations.js'
import type { Operation } from './operations.js'
import { componentsIn, partAt, refName, textAt, valuesAt } from './parts.js'
import type { Part } from './parts.js'
import { marked, partsTable } from './parts-table.js'
import type { TableRow } from './parts-table.js'
import { operationsOn, sectionsWithContents, sharedSections, trail } from './reference-frame.js'
import type { Section } from './reference-frame.js'
import { fieldText, schemaId, typeText } from './schema.js'

/** The reference of one dataset: its operations, columns, schemas and errors. */
export function datasetReference(
  context: PageContext,
  dataset: ReferenceEntry,
  document: Part,
  token: string,
): string {
  const { words, root, link } = context
  const { name, title, description, source, listed } = dataset
  const operations = operationsOf(document, name)
  const isShownAsColumns = (schema: string) => schema === rowOf(name) || isFilter(schema)
  return layout(
    context,
    { title: `${name} · ${words.navigation.reference}`, description: description ?? title },
    html`${trail(context, name)}
      <h1><code>/v1/${name}</code></h1>
      <div lang="en">
        <p class="lead">${title}</p>
        ${description === null ? null : html`<p>${description}</p>`}
        ${source === null ? null : html`<p class="muted">Source: ${source}</p>`}
      </div>
      <p>
        ${listed ? html`<a href="${link(`/datasets/${name}`)}">${words.open}</a> · ` : null}
        <a href="${root}/openapi.json?dataset=${name}">${words.filesLink}</a>
      </p>
      <div id="reference-token"></div>
      ${sectionsWithContents([
        operationsOn(context, 'Operations', operations, token),
        columnsSection(name, document, operations),
        ...sharedSections(document, operations, isShownAsColumns),
      ])}`,
  )
}

function rowOf(dataset: string): string {
  return `${dataset}.Row`
}

function isFilter(schema: string): boolean {
  return schema.endsWith('.Filter')
}

/** The columns with their filters, and what each of their types can be asked. */
function columnsSection(
  dataset: string,
  document: Part,
  operations: readonly Operation[],
): Section {
  const parts = operations.map(({ part }) => part)
  const schemas = componentsIn(document, 'schemas', parts)
  const [, row = {}] = schemas.find(([name]) => name === rowOf(dataset)) ?? []
  const content = html`<p>
      A filter is <code>column=operator.value</code>. All filters hold together, and a column may
      have several. In JSON a filter is an object with <code>column</code>, <code>op</code> and
      <code>value</code>.
    </p>
    <h3 id="${schemaId(rowOf(dataset))}">${rowOf(dataset)}</h3>
    ${partsTable({
      labelId: schemaId(rowOf(dataset)),
      headings: ['Column', 'Type', 'Description', 'Filter'],
      rows: mostFilters(operations).map((filter) => columnRow(filter, partAt(row, 'properties'))),
    })}
    ${schemas.filter(([name]) => isFilter(name)).map(filterSection)}`
  return { id: 'columns', title: 'Columns and filters', content }
}

/** An operation can't filter by a column that is named like one of its parameters. */
function mostFilters(operations: readonly Operation[]): readonly Part[] {
  const [most] = [...operations].sort((one, other) => other.filters.length - one.filters.length)
  return most?.filters ?? []
}

function columnRow(filter: Part, fields: Part): TableRow {
  const name = textAt(filter, 'name')
  const field = partAt(fields, name)
  const schema = partAt(filter, 'schema')
  const example = `${name}=${String(valuesAt(schema, 'examples')[0] ?? '')}`
  return {
    name: [html`<code>${name}</code>`],
    cells: [
      typeText(field),
      fieldText(field),
      [html`<code>${example}</code>`, marked(refName(partAt(schema, 'items')))],
    ],
  }
}

/** The operators of a type. */
function filterSection([name, schema]: readonly [name: string, schema: Part]): Html {
  return html`<h3 id="${schemaId(name)}">${name}</h3>
    ${markdown(textAt(schema, 'description'))}`
}
