import { html } from '../html.js'
import type { Html } from '../html.js'

export type Cell = readonly (Html | string)[]

export interface TableRow {
  /** The head of the row. */
  readonly name: Cell
  readonly cells: readonly Cell[]
}

interface PartsTable {
  /** The ids of the headings that name it. */
  readonly labelId: string
  readonly headings: readonly string[]
  readonly rows: readonly TableRow[]
}

/** More rows scroll in a box of their own. */
const rowsShown = 30

/** A table of the reference; on phones each row becomes a block. */
export function partsTable({ labelId, headings, rows }: PartsTable): Html {
  const table = html`<table class="parts">
    <thead>
      <tr>
        ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ({ name, cells }) =>
          html`<tr>
            <th scope="row">${name}</th>
            ${cells.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`
  if (rows.length <= rowsShown) return html`<div class="wide">${table}</div>`
  return html`<div class="wide tall" role="region" tabindex="0" aria-labelledby="${labelId}">
    ${table}
  </div>`
}

/** A small word below a name; nothing for an empty one. */
export function marked(text: string): Html | string {
  return text === '' ? '' : html` <small>${text}</small>`
}
