import type { Column } from '../../columns/column.js'
import type { Value } from '../../columns/filter-value.js'
import { hashBytes } from './hash.js'
import type { Hash } from './hash.js'
import { lookUpText } from './look-up-value.js'
import type { LookUp } from './look-up.js'
import type { Pace } from './pace.js'

/** The rows of a file from one row on, ascending; all of them up to and including `upTo`. */
export interface Found {
  readonly rows: readonly number[]
  readonly upTo: number
  /** How many rows were looked at to find these. */
  readonly seen: number
}

/** The values of a look-up column that a question asks for. */
export interface Wanted {
  readonly column: Column
  /** As the texts that are hashed. */
  readonly texts: ReadonlySet<string>
  readonly hashes: readonly Hash[]
}

/** What is looked for: values that are equal are one. */
export function wantedOf(column: Column, values: readonly Value[]): Wanted {
  const texts = new Set(values.map(lookUpText))
  const hashes = [...texts].map((text) => {
    const bytes = Buffer.from(text)
    const hash = { high: 0, low: 0 }
    hashBytes(bytes, 0, bytes.length, hash)
    return hash
  })
  hashes.sort((a, b) => a.high - b.high || a.low - b.low)
  return { column, texts, hashes }
}

/** Of many values, each is asked for so many rows at least. */
const rowsPerValueMin = 16

/** The rows that have one of the values, about `amount` of them. */
export async function rowsWith(
  lookUp: LookUp,
  { hashes }: Wanted,
  from: number,
  amount: number,
  pace: Pace,
): Promise<Found> {
  const limit = Math.max(Math.ceil((4 * amount) / hashes.length), Math.min(amount, rowsPerValueMin))
  const pages = lookUp.pages(hashes.length)
  let upTo = Infinity
  const all: number[] = []
  for (const hash of hashes) {
    if (pace.isLong) await pace.turn()
    const rows = await lookUp.rowsOf(hash, from, limit, pace, pages)
    if (rows.length === limit) upTo = Math.min(upTo, rows.at(-1) ?? upTo)
    for (const row of rows) all.push(row)
  }
  const seen = all.length
  if (hashes.length === 1) return { rows: all, upTo, seen }
  return { rows: all.filter((row) => row <= upTo).sort((a, b) => a - b), upTo, seen }
}

/** `amount` rows without a condition. */
export function rowsFrom(from: number, amount: number, end: number): Found {
  const last = Math.min(from + amount, end)
  const rows = Array.from({ length: Math.max(0, last - from) }, (_, index) => from + index)
  return { rows, upTo: last === end ? Infinity : last - 1, seen: rows.length }
}

/** The rows that are in all sets. */
export function inAll(sets: readonly Found[]): Found {
  const [first, ...others] = sets
  if (!first) throw new RangeError('there is no set of rows')
  const upTo = Math.min(...sets.map((set) => set.upTo))
  const inOthers = others.map(({ rows }) => new Set(rows))
  const rows = first.rows.filter((row) => row <= upTo && inOthers.every((set) => set.has(row)))
  return { rows, upTo, seen: sets.reduce((sum, set) => sum + set.seen, 0) }
}
