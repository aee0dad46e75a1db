import type { AccountDescription } from '../../../service/account.js'
import { barList } from '../chart/bar-list.js'
import { element } from '../element.js'
import { words } from '../page-words.js'

/** Draws a bar for the rows of each month. A table beside it shows the same numbers. */
export function monthBars(months: AccountDescription['months']): HTMLElement {
  const totals = new Map<string, number>()
  for (const { month, rows } of months) totals.set(month, (totals.get(month) ?? 0) + rows)
  const bars = [...totals].map(([month, rows]) => ({
    name: words.monthName(month),
    xText: month,
    y: rows,
    yText: String(rows),
  }))
  return element('figure', { class: 'chart', 'aria-label': words.months }, barList(bars))
}
