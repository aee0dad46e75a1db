import { shareUnit } from '../../../wording.js'
import { shortValues } from '../../chart/short-values.js'
import { columnTitle, floatDigits, roundedDigits } from '../../writers.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import type { Cell } from './exact-rows.js'
import { namedText, shownDigits } from './page-column.js'
import type { PageColumn } from './page-column.js'
import { noActs } from './table-acts.js'
import type { TableActs } from './table-acts.js'

const shares = shortValues(document.documentElement.lang, words.shareUnit)

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
    unit === '' ? null : element('small', {}, shareUnit.test(unit) ? shares.unit : unit),
  )
}

/**
 * A value of this column: amounts get thousands separators; floating-point ones have 15 digits,
 * others all; shares are in percent, and what is computed is rounded. A click may filter by it; the
 * form beside it does the same by keyboard.
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
      : element(
          'td',
          { class: `${align}${pick}`, title: allDigits(column, cell) },
          cellText(column, cell),
        )
  if (act) {
    made.addEventListener('click', () => {
      // Marking a text to copy it is no click.
      if (getSelection()?.isCollapsed !== false) act()
    })
  }
  return made
}

function cellText(column: PageColumn, { kind, text }: Cell): string {
  if (kind !== 'number' || column.names?.has(text)) return namedText(column, text)
  if (shareUnit.test(column.unit)) return shares.writeExact(text)
  const isRounded = column.isComputed === true
  const digits = isRounded ? roundedDigits(text) : shownDigits(column, text)
  return column.unit === '' && !isRounded ? digits : words.digits(digits)
}

/** For pointing at a number that is written in short. */
function allDigits(column: PageColumn, { kind, text }: Cell): string | null {
  const isShort = column.isComputed === true || shareUnit.test(column.unit)
  return kind === 'number' && isShort ? words.digits(floatDigits(text)) : null
}

function isNumber(type: string): boolean {
  return type === 'number' || type === 'integer'
}
