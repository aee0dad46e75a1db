import type { Column } from './column.js'
import type { DataType } from './data-type.js'
import type { Predicate, Value } from './predicate.js'

/** Smallest and largest value of a column in one file. */
export interface Bounds {
  readonly min: Value
  readonly max: Value
}

/** One immutable Parquet file of a version. */
export interface DataFile {
  /** Inside the versions folder, the only one that the engine sees. */
  readonly path: string
  /** Relative to the registry, for people. */
  readonly name: string
  readonly rows: number
  /** Each column that this file holds, as it holds it. */
  readonly types: ReadonlyMap<string, DataType>
  /** Files with the same layout hold the same columns in the same types. */
  readonly layout: string
  /** By shown name, for key and history columns; null where every value is empty. */
  readonly bounds: ReadonlyMap<string, Bounds | null>
}

/** The files of a dataset at one moment, immutable: whoever reads it twice reads the same. */
export interface Version {
  /** Derived from the files' content and the columns' definition: equal facts, equal id. */
  readonly id: string
  readonly dataset: string
  readonly files: readonly DataFile[]
  readonly columns: readonly Column[]
  readonly key: readonly Column[]
  readonly history: Column | null
  /** The newest value of the history column, in steps of its grid. */
  readonly newestHistory: bigint | undefined
  readonly rows: number
  readonly bytes: number
  /** When the newest of its files was last written, milliseconds since 1970. */
  readonly modifiedMs: number
}

/** The files that can hold a row which meets every predicate, as indexes into `version.files`. */
export function filesThatMayHold(
  version: Version,
  predicates: readonly Predicate[],
): readonly number[] {
  const chosen: number[] = []
  for (const [index, file] of version.files.entries()) {
    if (file.rows > 0 && predicates.every((predicate) => mayHold(file, predicate))) {
      chosen.push(index)
    }
  }
  return chosen
}

function mayHold(file: DataFile, predicate: Predicate): boolean {
  if (predicate.kind === 'nothing') return false
  const bounds = file.bounds.get(predicate.column.name)
  if (bounds === undefined) return true
  if (bounds === null) return predicate.kind === 'is_null' || predicate.kind === 'isdistinct'
  const { min, max } = bounds
  switch (predicate.kind) {
    case 'eq':
      return compare(predicate.value, min) >= 0 && compare(predicate.value, max) <= 0
    case 'gt':
      return compare(max, predicate.value) > 0
    case 'gte':
      return compare(max, predicate.value) >= 0
    case 'lt':
      return compare(min, predicate.value) < 0
    case 'lte':
      return compare(min, predicate.value) <= 0
    case 'in':
      return predicate.values.some((value) => compare(value, min) >= 0 && compare(value, max) <= 0)
    default:
      return true
  }
}

/** The engine's order of two values of one column: text goes by UTF-8 bytes. */
function compare(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  return left < right ? -1 : left > right ? 1 : 0
}

/** UTF-8 order is code point order; UTF-16 differs from it where surrogates stand. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = codeUnitRank(left, index) - codeUnitRank(right, index)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

function codeUnitRank(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
