import { createHash } from 'node:crypto'
import type { Column } from './column.js'
import type { DataType } from './data-type.js'
import type { Partition } from './partition.js'
import type { Value } from './place.js'
import type { Predicate } from './predicate.js'

/** Smallest and largest value of a column in one file. */
export interface Bounds {
  readonly min: Value
  readonly max: Value
}

/** One immutable Parquet file of a version. */
export interface DataFile {
  /** Inside the versions folder, the only one that the engine sees. */
  readonly path: string
  /** The file's identity as long as nobody writes to it; null where nobody else can. */
  readonly guard: string | null
  /** Relative to the registry, for people. */
  readonly name: string
  readonly rows: number
  /** Each column that this file holds, as it holds it. */
  readonly types: ReadonlyMap<string, DataType>
  /** Files with the same layout hold the same columns in the same types. */
  readonly layout: string
  /** Columns that stand in its path instead, by the path's own names: the same in every file. */
  readonly partition: Partition
  /** By shown name, for key, history and path columns; null where every value is empty. */
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

/** Whether two pictures of a version are over the very same files, none written since. */
export function isSameOnDisk(left: Version, right: Version): boolean {
  if (left.id !== right.id || left.files.length !== right.files.length) return false
  return left.files.every(({ path, guard }, index) => {
    const twin = right.files[index]
    return twin?.path === path && twin.guard === guard
  })
}

/** The same files with fewer columns to be seen: another version to every cursor and cache. */
export function derivedVersion(version: Version, hidden: readonly Column[]): Version {
  const facts = JSON.stringify([version.id, hidden.map(({ source }) => source)])
  const id = createHash('sha256').update(facts).digest('hex').slice(0, 16)
  return Object.freeze({ ...version, id })
}

/** The files that can hold a row which meets every predicate, as indexes into `version.files`. */
export function filesThatMayHold(
  version: Version,
  predicates: readonly Predicate[],
): readonly number[] {
  const tests = predicates.map(fileTest)
  const chosen: number[] = []
  for (const [index, file] of version.files.entries()) {
    if (file.rows > 0 && tests.every((mayHold) => mayHold(file))) chosen.push(index)
  }
  return chosen
}

type FileTest = (file: DataFile) => boolean

/** What a file without bounds holds can't be told: it is read. */
function fileTest(predicate: Predicate): FileTest {
  if (predicate.kind === 'nothing') return () => false
  const { name, source } = predicate.column
  const within = boundsTest(predicate)
  const takesEmpty = predicate.kind === 'is_null' || predicate.kind === 'isdistinct'
  return ({ bounds, partition }) => {
    if (predicate.kind === 'is_null' && partition.has(source)) return partition.get(source) === null
    const found = bounds.get(name)
    if (found === undefined) return true
    return found === null ? takesEmpty : within(found)
  }
}

function boundsTest(
  predicate: Exclude<Predicate, { kind: 'nothing' }>,
): (bounds: Bounds) => boolean {
  switch (predicate.kind) {
    case 'eq':
      return anyWithin([predicate.value])
    case 'in':
      return anyWithin([...predicate.values].sort(compareValues))
    case 'gt':
      return ({ max }) => compareValues(max, predicate.value) > 0
    case 'gte':
      return ({ max }) => compareValues(max, predicate.value) >= 0
    case 'lt':
      return ({ min }) => compareValues(min, predicate.value) < 0
    case 'lte':
      return ({ min }) => compareValues(min, predicate.value) <= 0
    case 'ne':
    case 'not_in':
    case 'isdistinct':
    case 'is_null':
    case 'not_null':
      return () => true
  }
}

/** By halving: a list may be long and the files many. */
function anyWithin(ascending: readonly Value[]): (bounds: Bounds) => boolean {
  return ({ min, max }) => {
    let [low, high] = [0, ascending.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareValues(ascending[middle] ?? min, min) < 0) low = middle + 1
      else high = middle
    }
    const smallest = ascending[low]
    return smallest !== undefined && compareValues(smallest, max) <= 0
  }
}

/** The engine's order of two values of one column: text goes by UTF-8 bytes. */
function compareValues(left: Value, right: Value): number {
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
