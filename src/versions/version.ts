import { createHash } from 'node:crypto'
import type { Column } from '../columns/column.js'
import type { DataType } from '../columns/data-type.js'
import type { Value } from '../columns/filter-value.js'
import type { Partition } from './files/partition.js'

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
  /** SHA-256 of its content, in hexadecimal digits; null where it is not verified. */
  readonly hash: string | null
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
