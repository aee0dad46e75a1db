import { element } from '../element.js'
import { words } from '../page-words.js'
import type { Cell, Row } from './exact-rows.js'
import type { PageColumn } from './page-column.js'

/** Shows rows as a table, with the columns in the requested order. */
export function pageTable(columns: readonly PageColumn[], rows: readonly Row[]): HTMLElement {
  const head = columns.map(({ name, heading = name, unit, description, type }) =>
    element(
      'th',
      { scope: 'col', title: description, class: isNumber(type) ? 'number' : null },
      heading,
      unit === '' ? null : element('small', {}, unit),
    ),
  )
  const body = rows.map((row) =>
    element('tr', {}, ...columns.map((column) => tableCell(column, row.get(column.name)))),
  )
  return element(
    'div',
    { class: 'wide tall', role: 'region', tabindex: 0, 'aria-label': words.result },
    element(
      'table',
      { class: 'data' },
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...body),
    ),
  )
}

/** Formats a value: amounts get thousands separators and keep every digit. */
function cellText({ unit }: PageColumn, { kind, text }: Cell): string {
  return kind === 'number' && unit !== '' ? words.digits(text) : text
}

function tableCell(column: PageColumn, cell: Cell | undefined): HTMLElement {
  const align = isNumber(column.type) ? 'number' : ''
  if (!cell || cell.kind === 'empty') {
    return element('td', { class: `empty ${align}`, title: words.empty }, '—')
  }
  return element('td', { class: align }, cellText(column, cell))
}

function isNumber(type: string): boolean {
  return type === 'number' || type === 'integer'
}
