import type { ShownType } from '../../../columns/column-types.js'
import { element, svgElement } from '../element.js'
import { words } from '../page-words.js'

type Value = string | number | boolean

/** A column of a schema with facts; which of them there are depends on its values. */
export interface ColumnFacts {
  readonly name: string
  readonly type: ShownType
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
  const ends = min === undefined || max === undefined ? endsOf(column) : [min, max]
  const [least, greatest] = ends.map(text)
  const isLong = values !== undefined && values.length > commonShown
  return [
    element('span', { class: 'muted' }, words.facts.filled(words.share(1 - empty))),
    ...(common.length > 0 ? [commonList(common, text)] : []),
    ...(isLong
      ? [element('span', { class: 'muted' }, words.facts.valuesInAll(values.length))]
      : []),
    ...(histogram ? [histogramPicture(histogram, text)] : []),
    ...(least !== undefined && greatest !== undefined
      ? [element('span', {}, words.facts.range(least, greatest))]
      : []),
  ]
}

/** The least and the greatest of values that have an order, if some of them are not shown. */
function endsOf({ type, values = [] }: ColumnFacts): readonly Value[] {
  const isOrdered = type !== 'string' && type !== 'boolean'
  return isOrdered && values.length > commonShown ? [values.at(0) ?? '', values.at(-1) ?? ''] : []
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
