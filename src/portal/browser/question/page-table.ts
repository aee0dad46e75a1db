import { element } from '../element.js'
import { words } from '../page-words.js'
import { bodyCell, headCell } from './table-cells.js'
import type { TableContent } from './table-sizes.js'
import { fillWindow } from './window-table.js'

/** Above this, only the cells near the visible part are in the page, and no text wraps. */
const plainCellsMax = 2000

/** Shows rows as a table that scrolls, with the columns in the requested order. */
export function pageTable(content: TableContent): HTMLElement {
  const { columns, rows, acts } = content
  const table = element('table', { class: 'data' })
  const region = element(
    'div',
    { class: 'wide tall', role: 'region', tabindex: 0, 'aria-label': words.result },
    table,
  )
  if (columns.length * rows.length > plainCellsMax) {
    fillWindow(region, table, content)
    return region
  }
  const body = rows.map((row) =>
    element('tr', {}, ...columns.map((column) => bodyCell(column, row.get(column.name), acts))),
  )
  table.append(
    element('thead', {}, element('tr', {}, ...columns.map((column) => headCell(column, acts)))),
    element('tbody', {}, ...body),
  )
  return region
}
