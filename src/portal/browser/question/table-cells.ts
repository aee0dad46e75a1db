import { element } from '../element.js'
import { words } from '../page-words.js'
import type { Cell } from './exact-rows.js'
import { columnTitle } from './page-column.js'
import type { PageColumn } from './page-column.js'

/** The head of a column: its label and name, with its unit below it. */
export function headCell(column: PageColumn): HTMLTableCellElement {
  const { unit, description, type } = column
  return element(
    'th',
    { scope: 'col', title: description, class: isNumber(type) ? 'number' : null },
    columnTitle(column),
    unit === '' ? null : element('small', {}, unit),
  )
}

/** A value of this column: amounts get thousands separators and keep every digit. */
export function bodyCell(column: PageColumn, cell: Cell | undefined): HTMLTableCellElement {
  const align = isNumber(column.type) ? 'number' : ''
  if (!cell || cell.kind === 'empty') {
    return element('td', { class: `empty ${align}`, title: words.empty }, '—')
  }
  return element('td', { class: align }, cellText(column, cell))
}

function cellText({ unit }: PageColumn, { kind, text }: Cell): string {
  return kind === 'number' && unit !== '' ? words.digits(text) : text
}

function isNumber(type: string): boolean {
  return type === 'number' || type === 'integer'
}
