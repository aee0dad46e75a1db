import type { ReferenceEntry } from '../../service/reference.js'
import { html } from '../html.js'
import type { Html } from '../html.js'
import { layout } from '../layout.js'
import type { PageContext } from '../page-context.js'
import { curlExample } from './curl-example.js'
import { inline, markdown } from './markdown.js'
import { operationsOf } from './operations.js'
import type { Operation } from './operations.js'
import { operationSection } from './operation-section.js'
import { componentsIn, partAt, refName, textAt } from './parts.js'
import type { Part } from './parts.js'
import { partsTable } from './parts-table.js'
import { contents, isFilterSchema, sharedSections, trail } from './reference-frame.js'
import { schemaId } from './schema.js'

/** The reference of one dataset: its operations, filters, schemas and errors. */
export function datasetReference(
  context: PageContext,
  dataset: ReferenceEntry,
  document: Part,
  token: string,
): string {
  const { words, root, link, base } = context
  const { name, title, description, source, listed } = dataset
  const operations = operationsOf(document, name)
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
        <a href="${root}/openapi.json">${words.filesLink}</a>
      </p>
      <div id="reference-token"></div>
      <div class="reference" lang="en">
        ${contents(context, operations, ['filters'])}
        <div>
          <section>
            <h2 id="operations">Operations</h2>
            ${operations.map((operation) =>
              operationSection(words, operation, curlExample(operation, base, token)),
            )}
          </section>
          ${filtersSection(document, operations)} ${sharedSections(document, operations)}
        </div>
      </div>`,
  )
}

/** The columns as filters, and what each of their types can be asked. */
function filtersSection(document: Part, operations: readonly Operation[]): Html {
  const filters = mostFilters(operations)
  const types = componentsIn(
    document,
    'schemas',
    operations.map(({ part }) => part),
  ).filter(([name]) => isFilterSchema(name))
  return html`<section>
    <h2 id="filters">Filters</h2>
    <p>
      A filter is <code>column=operator.value</code>. All filters hold together, and a column may
      have several. In JSON a filter is an object of <code>column</code>, <code>op</code> and
      <code>value</code>.
    </p>
    ${partsTable({
      labelId: 'filters',
      headings: ['Column', 'Type', 'Description and an example'],
      rows: filters.map((filter) => ({
        name: [html`<code>${textAt(filter, 'name')}</code>`],
        cells: [
          [filterType(partAt(partAt(filter, 'schema'), 'items'))],
          inline(textAt(filter, 'description')),
        ],
      })),
    })}
    ${types.map(([name, schema]) => typeSection(name, schema))}
  </section>`
}

/** Some operations can't filter by a column that is named like one of their parameters. */
function mostFilters(operations: readonly Operation[]): readonly Part[] {
  const [most] = [...operations].sort((one, other) => other.filters.length - one.filters.length)
  return most?.filters ?? []
}

function filterType(items: Part): Html {
  const name = refName(items)
  return html`<a href="#${schemaId(name)}">${name.replace(/\.Filter$/, '')}</a>`
}

function typeSection(name: string, schema: Part): Html {
  return html`<h3 id="${schemaId(name)}">${name.replace(/\.Filter$/, '')}</h3>
    ${markdown(textAt(schema, 'description'))}`
}
