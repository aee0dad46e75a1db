import { html } from '../html.js'
import type { Html } from '../html.js'
import type { PageContext } from '../page-context.js'
import { inline } from './markdown.js'
import type { Operation } from './operations.js'
import { errorId, headerId, operationTitle } from './operation-section.js'
import { componentsIn, textAt } from './parts.js'
import type { Part } from './parts.js'
import { partsTable } from './parts-table.js'
import { schemaId, schemaTable } from './schema.js'

/** The way back to the portal; `dataset` null = the reference's first page. */
export function trail({ words, link }: PageContext, dataset: string | null): Html {
  const { reference, datasets } = words.navigation
  return html`<nav class="trail" aria-label="${words.trail}">
    <ol>
      <li><a href="${link('/')}">${datasets}</a></li>
      <li>
        ${dataset === null ? html`<span aria-current="page">${reference}</span>` : html`<a href="${link('/docs')}">${reference}</a>`}
      </li>
      ${dataset === null ? null : html`<li><span aria-current="page">${dataset}</span></li>`}
    </ol>
  </nav>`
}

/** The sections of a page by id. */
const sections = {
  datasets: 'Datasets',
  filters: 'Filters',
  operations: 'Operations',
  schemas: 'Schemas',
  errors: 'Errors',
  headers: 'Headers',
} as const

/** Links to every section and operation of the page. */
export function contents(
  _context: PageContext,
  operations: readonly Operation[],
  own: readonly (keyof typeof sections)[],
): Html {
  const item = (id: keyof typeof sections) => html`<li><a href="#${id}">${sections[id]}</a></li>`
  return html`<nav class="contents" aria-label="Contents">
    <ul>
      ${own.map(item)}
      <li>
        <a href="#operations">${sections.operations}</a>
        <ul>
          ${operations.map((operation) => html`<li><a href="#${operation.id}">${operationTitle(operation)}</a></li>`)}
        </ul>
      </li>
      ${(['schemas', 'errors', 'headers'] as const).map(item)}
    </ul>
  </nav>`
}

/** The filter of a type is shown with the filters. */
export function isFilterSchema(name: string): boolean {
  return name.endsWith('.Filter')
}

/** The schemas, errors and headers that these operations refer to. */
export function sharedSections(document: Part, operations: readonly Operation[]): Html {
  const parts = operations.map(({ part }) => part)
  const schemas = componentsIn(document, 'schemas', parts).filter(([name]) => !isFilterSchema(name))
  const errors = componentsIn(document, 'responses', parts).filter(([status]) => status >= '400')
  const headers = componentsIn(document, 'headers', parts)
  return html`<section>
      <h2 id="schemas">Schemas</h2>
      ${schemas.map(
        ([name, schema]) =>
          html`<h3 id="${schemaId(name)}">${name}</h3>
            ${schemaTable(name, schema)}`,
      )}
    </section>
    <section>
      <h2 id="errors">Errors</h2>
      ${partsTable({
        labelId: 'errors',
        headings: ['Status', 'Code and meaning'],
        rows: errors.map(([status, error]) => ({
          id: errorId(Number(status)),
          name: [html`<code>${status}</code>`],
          cells: [
            textAt(error, 'description')
              .split('\n')
              .map((line) => html`<p>${inline(line)}</p>`),
          ],
        })),
      })}
    </section>
    <section>
      <h2 id="headers">Headers</h2>
      ${partsTable({
        labelId: 'headers',
        headings: ['Header', 'Meaning'],
        rows: headers.map(([name, header]) => ({
          id: headerId(name),
          name: [html`<code>${name}</code>`],
          cells: [inline(textAt(header, 'description'))],
        })),
      })}
    </section>`
}
