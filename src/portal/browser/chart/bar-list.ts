import { element, svgElement } from '../element.js'
import { words } from '../page-words.js'
import type { ShortValues } from '../../chart/short-values.js'

interface Bar {
  readonly name: string
  readonly xText: string
  readonly y: number
  readonly yText: string
}

/** A bar for each value, with its name before it and its number after it. */
export function barList(
  bars: readonly Bar[],
  { writeExact }: Pick<ShortValues, 'writeExact'>,
): HTMLElement {
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
      element('span', { class: 'number', title: yText }, writeExact(yText)),
    )
  })
  return element('ol', { class: 'bars' }, ...items)
}
