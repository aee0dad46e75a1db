import { element, svgElement } from '../element.js'
import { words } from '../page-words.js'

type Value = string | number | boolean

/** A column of a schema with facts; which of them there are depends on its values. */
export interface ColumnFacts {
  readonly name: string
  readonly null_share?: number
  readonly min?: Value
  readonly max?: Value
  readonly values?: readonly Value[]
  readonly common?: readonly CommonValue[]
  readonly histogram?: Histogram
}

interface CommonValue {
  readonly value: Value
  readonly share: number
  /** The name of a code. */
  readonly label?: string
}

interface Histogram {
  readonly edges: readonly Value[]
  readonly shares: readonly number[]
}

const commonShown = 4
const size = { bar: 10, height: 28 } as const

/** How full a column is, and its commonest values or its range; `isAmount` separates thousands. */
export function valueFacts(column: ColumnFacts, isAmount: boolean): readonly HTMLElement[] {
  const { null_share: empty, min, max, values, common = [], histogram } = column
  if (empty === undefined) return []
  if (empty === 1) return [element('span', { class: 'muted' }, words.facts.none)]
  const text = (value: Value) => (isAmount ? words.digits(`${value}`) : `${value}`)
  const hasRange = min !== undefined && max !== undefined && common.length === 0
  return [
    element('span', { class: 'muted' }, words.facts.filled(words.share(1 - empty))),
    ...(common.length > 0 ? [commonList(common, text)] : []),
    ...(values && values.length > commonShown
      ? [element('span', { class: 'muted' }, words.facts.valuesInAll(values.length))]
      : []),
    ...(histogram ? [histogramPicture(histogram, text)] : []),
    ...(hasRange ? [element('span', {}, words.facts.range(text(min), text(max)))] : []),
  ]
}

function commonList(
  common: readonly CommonValue[],
  text: (value: Value) => string,
): HTMLUListElement {
  const items = common.slice(0, commonShown).map(({ value, share, label }) => {
    const written = text(value)
    const name = label === undefined ? null : element('span', {}, label)
    const title = label ?? written
    return element(
      'li',
      {},
      element('span', { title }, element('code', {}, written || words.empty), name && ' ', name),
      element('span', { class: 'muted' }, words.share(share)),
    )
  })
  return element('ul', {}, ...items)
}

/** Bars of one width: the bins of a histogram, whose ranges may grow. */
function histogramPicture(
  { edges, shares }: Histogram,
  text: (value: Value) => string,
): HTMLElement {
  const highest = Math.max(...shares)
  const bins = shares.map((share, at) => ({
    share,
    range: words.facts.range(text(edges[at] ?? ''), text(edges[at + 1] ?? '')),
  }))
  const most = bins.find(({ share }) => share === highest)
  const bars = bins.map(({ share, range }, at) => {
    const height = share === 0 ? 0 : Math.max((share / highest) * size.height, 1)
    const place = { x: at * size.bar + 1, y: size.height - height }
    return svgElement(
      'rect',
      { class: 's0', ...place, width: size.bar - 2, height },
      svgElement('title', {}, `${range}: ${words.share(share)}`),
    )
  })
  const width = shares.length * size.bar
  const label = most ? words.facts.mostIn(words.share(most.share), most.range) : ''
  const svg = svgElement(
    'svg',
    {
      ...{ role: 'img', 'aria-label': label, width, height: size.height },
      viewBox: `0 0 ${width} ${size.height}`,
    },
    ...bars,
  )
  return element('div', {}, svg)
}
