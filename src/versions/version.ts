import { createHash } from 'node:crypto'
import type { Column } from '../columns/column.js'
import type { DataType } from '../columns/data-type.js'
import type { Value } from '../columns/filter-value.js'
import type { Predicate } from '../columns/predicate.js'
import type { Alias } from '../names/write-names.js'
import type { Partition } from './files/partition.js'
import type { ColumnMark } from './opener.js'
import type { RemoteTable } from './remote-table.js'

/** The smallest and largest value of a column in one file. */
export interface Bounds {
  readonly min: Value
  readonly max: Value
  /** No value is empty; left out = some may be. */
  readonly isFull?: true
}

/** An immutable file of a version. */
export interface StoredFile {
  /** In the versions folder, the only one that the engine can read. */
  readonly path: string
  /** The identity that the file must keep; null for a copy, which only this server writes to. */
  readonly guard: string | null
  /** SHA-256 of its content, in hexadecimal digits; null if it is not verified. */
  readonly hash: string | null
  /** Relative to the registry, for people. */
  readonly name: string
}

/** One immutable Parquet file of a version. */
export interface DataFile extends StoredFile {
  /** SHA-256 of the source file, in hexadecimal digits. */
  readonly contentHash: string
  /** The path below the fixed part of its pattern: the same in each delivery of the file. */
  readonly below: string
  readonly rows: number
  /** The columns in this file, with their types there. */
  readonly types: ReadonlyMap<string, DataType>
  /** What is to be known of columns in this file. */
  readonly marks: ReadonlyMap<string, readonly ColumnMark[]>
  /** Equal for files with the same columns, types and marks. */
  readonly layout: string
  /** The columns in its path; every file of the version has the same ones. */
  readonly partition: Partition
  /** By shown name, for key, look-up, history and path columns; null if every value is empty. */
  readonly bounds: ReadonlyMap<string, Bounds | null>
  /** The same rows as texts, found by look-up columns; null without this form. */
  readonly rowCopy: StoredFile | null
  /** The same rows in small row groups; null without this form. */
  readonly pages: StoredFile | null
}

/**
 * The search file of a column: each text of the column, folded, with each file that has it and the
 * range of rows in it.
 */
export interface SearchFile extends StoredFile {
  /** The column's name in the files. */
  readonly column: string
}

/** What each row is about, by the columns that say so. None of them is hidden. */
export interface Entity {
  readonly key: Column
  readonly name: Column | null
  readonly period: Column | null
  /** Entities with a larger value come first. */
  readonly rank: Column | null
  readonly aliases: readonly Alias[]
  /** The rows that the demo token sees; null without a demo. */
  readonly demo: readonly Predicate[] | null
}

/** The files of a dataset at one moment. They never change: every read returns the same rows. */
export interface Version {
  /** Derived from the files' content and the columns' definitions. */
  readonly id: string
  readonly dataset: string
  /** Of a dataset that another engine reads: it has no file of this server. */
  readonly table?: RemoteTable
  /** They define the stored order; one that stands for the whole of a table. */
  readonly files: readonly DataFile[]
  /** For searched columns, where they are made. */
  readonly search: readonly SearchFile[]
  readonly entity: Entity | null
  /** The index of the entities' names; null until it is made. */
  readonly names: StoredFile | null
  readonly columns: readonly Column[]
  readonly key: readonly Column[]
  /** The columns that rows are looked up by: the first of the key, and what the registry adds. */
  readonly lookUps: readonly Column[]
  readonly history: Column | null
  /** The newest value of the history column, in steps of its grid. */
  readonly newestHistory: bigint | undefined
  readonly rows: number
  readonly bytes: number
  /** When the newest file was written, in milliseconds since 1970. */
  readonly modifiedMs: number
}

/** The oldest value of the history column, in steps of its grid. */
export function oldestHistory({ files, newestHistory = 0n }: Version, { name }: Column): bigint {
  return files.reduce((oldest, { bounds }) => {
    const min = bounds.get(name)?.min
    return typeof min === 'bigint' && min < oldest ? min : oldest
  }, newestHistory)
}

/** Every file that an answer may be read from. */
export function allFiles(version: Version): readonly StoredFile[] {
  return version.table ? [] : [...version.files, ...formFiles(version)]
}

/** The files of a version's forms. */
export function formFiles({ files, search, names }: Version): readonly StoredFile[] {
  const ofAll = names ? [names, ...search] : search
  return [...ofAll, ...files.flatMap(({ rowCopy, pages }) => [rowCopy ?? [], pages ?? []].flat())]
}

/** Whether two versions have the same files, and none was written to in between. */
export function isSameOnDisk(left: Version, right: Version): boolean {
  if (left.id !== right.id || left.files.length !== right.files.length) return false
  return left.files.every(({ path, guard }, index) => {
    const twin = right.files[index]
    return twin?.path === path && twin.guard === guard
  })
}

/** The same files with fewer visible columns: another version for cursors and caches. */
export function derivedVersion(version: Version, hidden: readonly Column[]): Version {
  const facts = JSON.stringify([version.id, hidden.map(({ source }) => source)])
  const id = createHash('sha256').update(facts).digest('hex').slice(0, 16)
  return Object.freeze({ ...version, id })
}
