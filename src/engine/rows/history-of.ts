import type { Value } from '../../columns/filter-value.js'
import type { Predicate } from '../../columns/predicate.js'
import { compareValues } from '../../versions/choose-files.js'
import { codeBytesPerPage, pageBytes } from './layout.js'
import type { Footer } from './layout.js'
import type { Pace, SummedParts } from './pace.js'

export type HistoryComparison = Exclude<
  Predicate,
  { kind: 'nothing' | 'is_null' | 'not_null' | 'contains' }
>

/** The comparisons that codes decide. */
const comparedKinds: readonly Predicate['kind'][] = ['eq', 'in', 'gt', 'gte', 'lt', 'lte']

/** Whether codes decide a comparison of the history column. */
export function isHistoryComparison(predicate: Predicate): predicate is HistoryComparison {
  return comparedKinds.includes(predicate.kind)
}

/** Compares the history column of rows without reading them. */
export class HistoryOf {
  readonly #copy: SummedParts
  readonly #head: NonNullable<Footer['history']>
  readonly #values: readonly bigint[]

  constructor(copy: SummedParts, head: NonNullable<Footer['history']>) {
    this.#copy = copy
    this.#head = head
    this.#values = head.values.map(BigInt)
  }

  /** A filter for the rows of one question. */
  filter(predicates: readonly HistoryComparison[]): HistoryFilter {
    const allowed = new Uint8Array(this.#values.length + 1).fill(1, 1)
    for (const predicate of predicates) {
      const others = [...complementOf(predicate, this.#values)]
      for (const [from, to] of others) allowed.fill(0, from + 1, to + 1)
    }
    return new HistoryFilter(this.#copy, this.#head, allowed)
  }
}

/** Which codes of a history column a question takes. */
export class HistoryFilter {
  readonly #copy: SummedParts
  readonly #head: NonNullable<Footer['history']>
  readonly #allowed: Uint8Array
  #page: { readonly index: number; readonly bytes: Buffer } | null = null

  constructor(copy: SummedParts, head: NonNullable<Footer['history']>, allowed: Uint8Array) {
    this.#copy = copy
    this.#head = head
    this.#allowed = allowed
  }

  /** Whether all rows or no row of the file pass; null if some may. */
  get verdict(): boolean | null {
    const { only } = this.#head
    return only === null ? null : this.#allowed[only] === 1
  }

  /** The rows, given ascending, that pass. */
  async passing(rows: readonly number[], pace: Pace): Promise<readonly number[]> {
    const { verdict } = this
    if (verdict !== null) return verdict ? rows : []
    const { bytesPerCode } = this.#head
    const perPage = codeBytesPerPage / bytesPerCode
    const passing: number[] = []
    for (const row of rows) {
      const index = Math.floor(row / perPage)
      if (this.#page?.index !== index) {
        const offset = this.#head.offset + index * pageBytes
        await pace.turn()
        this.#page = { index, bytes: await this.#copy.readPages(offset, 1, pace) }
      }
      const place = 4 + (row % perPage) * bytesPerCode
      const { bytes } = this.#page
      const code = bytesPerCode === 1 ? bytes[place] : bytes.readUInt16LE(place)
      if (this.#allowed[code ?? 0] === 1) passing.push(row)
    }
    return passing
  }
}

/** The ranges of indexes of the ascending values that a comparison does not take. */
function complementOf(
  predicate: HistoryComparison,
  values: readonly bigint[],
): readonly (readonly [from: number, to: number])[] {
  const end = values.length
  const before = (value: Value) => indexOf(values, value, false)
  const upTo = (value: Value) => indexOf(values, value, true)
  switch (predicate.kind) {
    case 'gt':
      return [[0, upTo(predicate.value)]]
    case 'gte':
      return [[0, before(predicate.value)]]
    case 'lt':
      return [[before(predicate.value), end]]
    case 'lte':
      return [[upTo(predicate.value), end]]
    case 'eq':
    case 'in': {
      const wanted = 'values' in predicate ? predicate.values : [predicate.value]
      const taken = [...new Set(wanted)].sort((a, b) => (a < b ? -1 : 1))
      const starts = [0, ...taken.map(upTo)]
      const ends = [...taken.map(before), end]
      return starts.map((start, index) => [start, ends[index] ?? end])
    }
    default:
      throw new TypeError('codes do not decide this comparison')
  }
}

/** The number of values before this one, or up to and including it. */
function indexOf(values: readonly bigint[], value: Value, isIncluded: boolean): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = values[middle] ?? 0n
    if (compareValues(found, value) < 0 || (isIncluded && found === value)) low = middle + 1
    else high = middle
  }
  return low
}
