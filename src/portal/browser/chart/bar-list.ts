import { element, svgElement } from '../element.js'
import { words } from '../page-words.js'
import { shortNumber } from './short-number.js'

interface Bar {
  readonly name: string
  readonly xText: string
  readonly y: number
  readonly yText: string
}

/**
 * A bar for each value, with its name before it and its number after it, in the unit that `factor`
 * makes of the values'.
 */
export function barList(bars: readonly Bar[], factor = 1): HTMLElement {
  const low = Math.min(0, ...bars.map(({ y }) => y))
  const high = Math.max(0, ...bars.map(({ y }) => y))
  const share = (length: number) => `${(length / (high - low || 1)) * 100}%`
  const items = bars.map(({ name, xText, y, yText }) => {
    const rect = svgElement('rect', {
      class: 's0',
      x: share(Math.min(y, 0) - low),
      width: share(Math.abs(y)),
      height: '100%',
    })
    const label = name === '' ? xText || words.empty : name
    return element(
      'li',
      {},
      element('span', {}, label),
      svgElement('svg', { 'aria-hidden': 'true' }, rect),
      element('span', { class: 'number', title: yText }, shortNumber(yText, factor)),
    )
  })
  return element('ol', { class: 'bars' }, ...items)
}
