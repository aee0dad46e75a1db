import { html } from '../html.js'
import type { Html } from '../html.js'
import type { PageContext } from '../page-context.js'
import { curlExample } from './curl-example.js'
import { inline } from './markdown.js'
import type { Operation } from './operations.js'
import { operationSection, operationTitle } from './operation-section.js'
import { componentsIn, textAt } from './parts.js'
import type { Part } from './parts.js'
import { partsTable } from './parts-table.js'
import { schemaId, schemaTable } from './schema.js'

/** A section of the page and of its contents list. */
export interface Section {
  readonly id: string
  readonly title: string
  readonly content: Html
  /** Listed below the section. */
  readonly operations?: readonly Operation[]
}

/** The way back to the portal; `dataset` null = the reference's first page. */
export function trail({ words, link }: PageContext, dataset: string | null): Html {
  const { reference, datasets } = words.navigation
  const here = (text: string) => html`<li><span aria-current="page">${text}</span></li>`
  const there = (to: string, text: string) => html`<li><a href="${link(to)}">${text}</a></li>`
  const pages = dataset === null ? here(reference) : [there('/docs', reference), here(dataset)]
  return html`<nav class="trail" aria-label="${words.trail}">
    <ol>
      ${there('/', datasets)}${pages}
    </ol>
  </nav>`
}

/** The contents list beside the sections; the text of the API is English in every language. */
export function sectionsWithContents(sections: readonly Section[]): Html {
  return html`<div class="reference" lang="en">
    <nav class="contents" aria-label="Contents">
      <ul>
        ${sections.map(contentsItem)}
      </ul>
    </nav>
    <div>
      ${sections.map(
        ({ id, title, content }) =>
          html`<section>
            <h2 id="${id}">${title}</h2>
            ${content}
          </section>`,
      )}
    </div>
  </div>`
}

function contentsItem({ id, title, operations = [] }: Section): Html {
  const items = operations.map(
    (operation) => html`<li><a href="#${operation.id}">${operationTitle(operation)}</a></li>`,
  )
  return html`<li>
    <a href="#${id}">${title}</a> ${
      items.length === 0
        ? null
        : html`<ul>
            ${items}
          </ul>`
    }
  </li>`
}

/** The operations, each with a command that uses this token. */
export function operationsOn(
  { words, base }: PageContext,
  title: string,
  operations: readonly Operation[],
  token: string,
): Section {
  const content = operations.map((operation) =>
    operationSection(words, operation, curlExample(operation, base, token)),
  )
  return { id: 'operations', title, content: html`${content}`, operations }
}

/** The schemas of these operations that are not shown elsewhere, their errors and headers. */
export function sharedSections(
  document: Part,
  operations: readonly Operation[],
  isElsewhere: (schema: string) => boolean = () => false,
): readonly Section[] {
  const parts = operations.map(({ part }) => part)
  const schemas = componentsIn(document, 'schemas', parts).filter(([name]) => !isElsewhere(name))
  const errors = componentsIn(document, 'responses', parts).filter(([status]) => status >= '400')
  const headers = componentsIn(document, 'headers', parts)
  return [
    { id: 'schemas', title: 'Schemas', content: html`${schemas.map(schemaSection)}` },
    { id: 'errors', title: 'Errors', content: meaningTable('errors', 'Status', errors) },
    { id: 'headers', title: 'Headers', content: meaningTable('headers', 'Header', headers) },
  ]
}

type Component = readonly [name: string, component: Part]

function schemaSection([name, schema]: Component): Html {
  return html`<h3 id="${schemaId(name)}">${name}</h3>
    ${schemaTable(name, schema)}`
}

/** Names with their descriptions; each line of these is a paragraph. */
function meaningTable(labelId: string, heading: string, components: readonly Component[]): Html {
  return partsTable({
    labelId,
    headings: [heading, 'Meaning'],
    rows: components.map(([name, component]) => ({
      name: [html`<code>${name}</code>`],
      cells: [
        textAt(component, 'description')
          .split('\n')
          .map((line) => html`<p>${inline(line)}</p>`),
      ],
    })),
  })
}
