import { element } from '../element.js'
import { words } from '../page-words.js'
import type { Row } from './exact-rows.js'
import type { PageColumn } from './page-column.js'
import { bodyCell, headCell } from './table-cells.js'
import { fillWindow } from './window-table.js'

/** Above this, only the cells near the visible part are in the page, and no text wraps. */
const plainCellsMax = 2000

/** Shows rows as a table that scrolls, with the columns in the requested order. */
export function pageTable(columns: readonly PageColumn[], rows: readonly Row[]): HTMLElement {
  const table = element('table', { class: 'data' })
  const region = element(
    'div',
    { class: 'wide tall', role: 'region', tabindex: 0, 'aria-label': words.result },
    table,
  )
  if (columns.length * rows.length > plainCellsMax) {
    fillWindow(region, table, { columns, rows })
    return region
  }
  const body = rows.map((row) =>
    element('tr', {}, ...columns.map((column) => bodyCell(column, row.get(column.name)))),
  )
  table.append(
    element('thead', {}, element('tr', {}, ...columns.map(headCell))),
    element('tbody', {}, ...body),
  )
  return region
}
