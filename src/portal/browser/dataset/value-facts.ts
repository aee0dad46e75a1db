import type { ShownType } from '../../../columns/column-types.js'
import type { Operator } from '../../../columns/operators.js'
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

/** The address of the rows that meet these filters of the column. */
type RowsAt = (filters: readonly (readonly [operator: Operator, value: Value])[]) => string

const commonShown = 4
const size = { bar: 10, height: 28 } as const

/**
 * How full a column is, and its commonest values or its range; `isAmount` separates thousands. A
 * value and a bar link to their rows, at the address that `rowsAt` gives for filters.
 */
export function valueFacts(
  column: ColumnFacts,
  isAmount: boolean,
  rowsAt: RowsAt,
): readonly HTMLElement[] {
  const { null_share: empty, min, max, values, common = [], histogram } = column
  if (empty === undefined) return []
  if (empty === 1) return [element('span', { class: 'muted' }, words.facts.none)]
  const text = (value: Value) => (isAmount ? words.digits(`${value}`) : `${value}`)
  const ends = min === undefined || max === undefined ? endsOf(column) : [min, max]
  const [least, greatest] = ends.map(text)
  const isLong = values !== undefined && values.length > commonShown
  return [
    element('span', { class: 'muted' }, words.facts.filled(words.share(1 - empty))),
    ...(common.length > 0 ? [commonList(common, text, (value) => rowsAt([['eq', value]]))] : []),
    ...(isLong
      ? [element('span', { class: 'muted' }, words.facts.valuesInAll(values.length))]
      : []),
    ...(histogram ? [histogramPicture(histogram, text, rowsAt)] : []),
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
  hrefOf: (value: Value) => string,
): HTMLUListElement {
  const items = common.slice(0, commonShown).map(({ value, share, label }) => {
    const written = text(value)
    const name = label === undefined ? null : element('span', {}, label)
    const title = label ?? written
    // A longer number was rounded on its way here.
    const isExact = typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER
    return element(
      'li',
      {},
      element(
        isExact ? 'a' : 'span',
        { title, href: isExact ? hrefOf(value) : null },
        element('code', {}, written || words.empty),
        name && ' ',
        name,
      ),
      element('span', { class: 'muted' }, words.share(share)),
    )
  })
  return element('ul', {}, ...items)
}

/** Bars of one width: the bins of a histogram, whose ranges may grow. */
function histogramPicture(
  { edges, shares }: Histogram,
  text: (value: Value) => string,
  rowsAt: RowsAt,
): HTMLElement {
  const highest = Math.max(...shares)
  const bins = shares.map((share, at) => ({
    share,
    href: rowsAt([
      ['gte', edges[at] ?? ''],
      [at === shares.length - 1 ? 'lte' : 'lt', edges[at + 1] ?? ''],
    ]),
    range: words.facts.range(text(edges[at] ?? ''), text(edges[at + 1] ?? '')),
  }))
  const most = bins.find(({ share }) => share === highest)
  const bars = bins.map(({ share, range, href }, at) => {
    const height = share === 0 ? 0 : Math.max((share / highest) * size.height, 1)
    const place = { x: at * size.bar + 1, width: size.bar - 2 }
    const title = `${range}: ${words.share(share)}`
    return svgElement(
      'a',
      { href, 'aria-label': title },
      svgElement('title', {}, title),
      svgElement('rect', { class: 'room', ...place, y: 0, height: size.height }),
      svgElement('rect', { class: 's0', ...place, y: size.height - height, height }),
    )
  })
  const width = shares.length * size.bar
  const label = most ? words.facts.mostIn(words.share(most.share), most.range) : ''
  const svg = svgElement(
    'svg',
    {
      ...{ role: 'group', 'aria-label': label, width, height: size.height },
      viewBox: `0 0 ${width} ${size.height}`,
    },
    ...bars,
  )
  return element('div', {}, svg)
}
