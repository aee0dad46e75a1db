import type { AccountDescription } from '../../service/account.js'
import { element, svgElement } from './element.js'
import { words } from './page-words.js'

const barHeight = 28
const barThickness = 16
const pictureWidth = 480
const labelWidth = 84
const numberWidth = 84

/** Draws a bar for the rows of each month. A table beside it shows the same numbers. */
export function monthBars(months: AccountDescription['months']): HTMLElement {
  const totals = new Map<string, number>()
  for (const { month, rows } of months) totals.set(month, (totals.get(month) ?? 0) + rows)
  const most = Math.max(...totals.values())
  const bars = [...totals].flatMap(([month, rows], index) => {
    const width = (rows / most) * (pictureWidth - labelWidth - numberWidth)
    const middle = (index + 0.5) * barHeight
    const line = middle + 4
    return [
      svgElement('text', { x: 0, y: line }, words.monthName(month)),
      svgElement('rect', {
        class: 's0',
        x: labelWidth,
        y: middle - barThickness / 2,
        width,
        height: barThickness,
      }),
      svgElement('text', { x: labelWidth + width + 8, y: line }, words.number(rows)),
    ]
  })
  const viewBox = `0 0 ${pictureWidth} ${totals.size * barHeight}`
  const picture = svgElement('svg', { role: 'img', 'aria-label': words.months, viewBox }, ...bars)
  return element('figure', { class: 'chart bars' }, picture)
}
