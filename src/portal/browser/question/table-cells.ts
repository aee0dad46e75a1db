import { button, element } from '../element.js'
import { words } from '../page-words.js'
import type { Cell } from './exact-rows.js'
import { columnTitle, shownDigits } from './page-column.js'
import type { PageColumn } from './page-column.js'
import { noActs } from './table-acts.js'
import type { TableActs } from './table-acts.js'

/** The head of a column: its label and name, with its unit below it. A click may sort by it. */
export function headCell(
  column: PageColumn,
  { order, sort }: Pick<TableActs, 'order' | 'sort'> = noActs,
): HTMLTableCellElement {
  const { unit, description, type, name } = column
  const isSorted = order?.column === name
  const direction = order?.isDescending === true ? 'descending' : 'ascending'
  const act = sort(column)
  const title = columnTitle(column)
  return element(
    'th',
    {
      ...{ scope: 'col', title: description, class: isNumber(type) ? 'number' : null },
      'aria-sort': isSorted ? direction : null,
    },
    act ? button(title, act, { class: 'sort' }) : title,
    unit === '' ? null : element('small', {}, unit),
  )
}

/**
 * A value of this column: amounts get thousands separators; floating-point ones have 15 digits,
 * others all. A click may filter by it; the form beside it does the same by keyboard.
 */
export function bodyCell(
  column: PageColumn,
  cell: Cell | undefined,
  { filter }: Pick<TableActs, 'filter'> = noActs,
): HTMLTableCellElement {
  const align = isNumber(column.type) ? 'number' : ''
  const act = cell && filter(column, cell)
  const pick = act ? ' pick' : ''
  const made =
    !cell || cell.kind === 'empty'
      ? element('td', { class: `empty ${align}${pick}`, title: words.empty }, '—')
      : element('td', { class: `${align}${pick}` }, cellText(column, cell))
  if (act) {
    made.addEventListener('click', () => {
      // Marking a text to copy it is no click.
      if (getSelection()?.isCollapsed !== false) act()
    })
  }
  return made
}

function cellText(column: PageColumn, { kind, text }: Cell): string {
  if (kind !== 'number') return text
  const digits = shownDigits(column, text)
  return column.unit === '' ? digits : words.digits(digits)
}

function isNumber(type: string): boolean {
  return type === 'number' || type === 'integer'
}
