import { barSpans } from '../../chart/bar-spans.js'
import { button, element, svgElement } from '../element.js'
import { words } from '../page-words.js'
import type { ShortValues } from '../../chart/short-values.js'

interface Bar {
  readonly name: string
  readonly xText: string
  readonly y: number
  readonly yText: string
  /** What a click does; left out = nothing. */
  readonly act?: (() => void) | undefined
}

/** A bar for each value, with its name before it and its number after it. */
export function barList(
  bars: readonly Bar[],
  { writeExact, exact }: Pick<ShortValues, 'writeExact' | 'exact'>,
): HTMLElement {
  const spans = barSpans(bars.map(({ y }) => y))
  const items = bars.map(({ name, xText, yText, act }, at) => {
    const { start, length } = spans[at] ?? { start: 0, length: 0 }
    const place = { x: `${start * 100}%`, width: `${length * 100}%`, height: '100%' }
    const rect = svgElement('rect', { class: 's0', ...place })
    const label = name === '' ? xText || words.empty : name
    return element(
      'li',
      {},
      act ? button(label, act, { class: 'sort' }) : element('span', {}, label),
      svgElement('svg', { 'aria-hidden': 'true' }, rect),
      element('span', { class: 'number', title: exact(yText) }, writeExact(yText)),
    )
  })
  return element('ol', { class: 'bars' }, ...items)
}
