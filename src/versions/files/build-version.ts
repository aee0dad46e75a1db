import { createHash } from 'node:crypto'
import type { Column } from '../../columns/column.js'
import { typeText } from '../../columns/data-type.js'
import type { DataType } from '../../columns/data-type.js'
import { onGrid } from '../../columns/values.js'
import type { Problem } from '../../registry/registry.js'
import { quoted } from '../../text.js'
import type { FileColumn, OpenedFile, TextBounds } from '../opener.js'
import type { Bounds, DataFile, Version } from '../version.js'
import type { Partition, Partitions } from './partition.js'
import type { RemoteTable } from '../remote-table.js'
import type { SourceFile } from './source-files.js'

/** A source file, its published path, and what the engine found in it. */
export interface ContentFile {
  readonly source: SourceFile
  readonly path: string
  /** The identity that the file must keep; null for a copy, which only this server writes to. */
  readonly guard: string | null
  /** SHA-256 of the file at `path`; null if it is not verified. */
  readonly hash: string | null
  readonly opened: OpenedFile
}

/** The opened files of a dataset. */
export interface OpenedContent {
  readonly files: readonly ContentFile[]
  /** Read through another engine; then the one file stands for the table. */
  readonly table?: RemoteTable
}

/** The columns of a version, with their roles. */
export interface VersionColumns {
  readonly columns: readonly Column[]
  readonly key: readonly Column[]
  readonly lookUps: readonly Column[]
  readonly history: Column | null
  readonly partitions: Partitions
}

/** Builds the version of these files and columns, and reports problems. */
export function buildVersion(
  dataset: string,
  { files, table }: OpenedContent,
  { columns, key, lookUps, history, partitions }: VersionColumns,
): { readonly version: Version; readonly problems: readonly Problem[] } {
  const bounded = [...new Set([...key, ...lookUps, ...(history ? [history] : [])])]
  const dataFiles = dataFilesOf(files, partitions, columns, bounded)
  const version = Object.freeze({
    id: versionId(files, columns, partitions),
    dataset,
    ...(table && { table }),
    files: dataFiles,
    search: [],
    entity: null,
    names: null,
    columns,
    key,
    lookUps,
    history,
    newestHistory: history ? newestValue(dataFiles, history) : undefined,
    rows: files.reduce((sum, file) => sum + file.opened.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.source.sizeBytes, 0),
    modifiedMs: files.reduce((newest, file) => Math.max(newest, file.source.modifiedMs), 0),
  })
  return { version, problems: history ? historyProblems(dataFiles, history) : [] }
}

/** Depends on content only, not on times and paths: two servers over the same files agree. */
function versionId(
  files: readonly ContentFile[],
  columns: readonly Column[],
  partitions: Partitions,
): string {
  const hash = createHash('sha256')
  for (const { source } of files) hash.update(source.contentHash)
  if (partitions.columns.length > 0) {
    hash.update(JSON.stringify(partitions.ofFiles.map((partition) => [...partition])))
  }
  for (const { name, source, type, asText, hidden } of columns) {
    hash.update(JSON.stringify([name, source, typeText(type), asText, hidden]))
  }
  return hash.digest('hex').slice(0, 16)
}

const noPartition: Partition = new Map()

function dataFilesOf(
  files: readonly ContentFile[],
  partitions: Partitions,
  columns: readonly Column[],
  bounded: readonly Column[],
): readonly DataFile[] {
  const inPath = new Set(partitions.columns.map(({ name }) => name))
  const all = [...new Set([...bounded, ...columns.filter(({ source }) => inPath.has(source))])]
  const layouts: Layouts = new Map()
  return files.map((file, index) =>
    dataFile(file, partitions.ofFiles[index] ?? noPartition, all, layouts),
  )
}

function dataFile(
  file: ContentFile,
  partition: Partition,
  bounded: readonly Column[],
  layouts: Layouts,
): DataFile {
  const own = layoutOf(file.opened, layouts)
  const { types } = own
  const bounds = new Map<string, Bounds | null>()
  for (const column of bounded) {
    const found = partition.has(column.source)
      ? pathBounds(file, partition.get(column.source) ?? null)
      : types.has(column.source)
        ? storedBounds(file.opened, column, types.get(column.source))
        : null
    const parsed = found && parseBounds(found, column)
    if (parsed !== undefined) bounds.set(column.name, parsed)
  }
  const { path, guard, hash, source, opened } = file
  const { name, below = name, contentHash } = source
  const stored = { path, guard, hash, contentHash, name, below, rows: opened.rows }
  return Object.freeze({ ...stored, ...own, partition, bounds, rowCopy: null, pages: null })
}

/**
 * Bounds of a column that a file holds in this type; undefined if they are unknown: as texts,
 * numbers have another order.
 */
function storedBounds(
  { bounds, fits }: OpenedFile,
  { source, type, rules: { domain } }: Column,
  stored: DataType | undefined,
): TextBounds | null | undefined {
  const fit = fits?.get(source)
  if (fit?.hasValues === false) return null
  if (fit?.target === typeText(type)) return fit.bounds ?? undefined
  const isText = domain.kind === 'text'
  return isText && stored && typeText(stored) !== typeText(type) ? undefined : bounds.get(source)
}

function pathBounds({ opened }: ContentFile, value: string | null): TextBounds | null {
  return value === null || opened.rows === 0 ? null : { min: value, max: value }
}

type FileLayout = Pick<DataFile, 'types' | 'marks' | 'layout'>
/** By a file's list of columns, and by that list's text. */
type Layouts = Map<readonly FileColumn[] | string, FileLayout>

/** One object for all files of a layout: there may be thousands of files. */
function layoutOf({ columns }: OpenedFile, layouts: Layouts): FileLayout {
  const known = layouts.get(columns)
  if (known) return known
  const text = JSON.stringify(columns.map(({ name, type, marks }) => [name, typeText(type), marks]))
  const types: ReadonlyMap<string, DataType> = new Map(
    columns.map(({ name, type }) => [name, type]),
  )
  const marks = new Map(columns.flatMap(({ name, marks: own }) => (own ? [[name, own]] : [])))
  const layout = layouts.get(text) ?? { types, marks, layout: text }
  layouts.set(columns, layout)
  layouts.set(text, layout)
  return layout
}

/** Bounds as values of the column; undefined if they are unknown and exclude nothing. */
function parseBounds(bounds: TextBounds, column: Column): Bounds | undefined {
  const domain = column.rules.domain
  if (domain.kind === 'text' && domain.form === 'text') return bounds
  if (domain.kind !== 'grid') return undefined
  const [min, max] = [domain.parse(bounds.min), domain.parse(bounds.max)]
  if (!min || !max) return undefined
  const ends = { min: onGrid(min, domain.scale).floor, max: onGrid(max, domain.scale).floor }
  return { ...bounds, ...ends }
}

function newestValue(files: readonly DataFile[], history: Column): bigint | undefined {
  let newest: bigint | undefined
  for (const file of files) {
    const value = file.bounds.get(history.name)?.max
    if (typeof value === 'bigint' && (newest === undefined || value > newest)) newest = value
  }
  return newest
}

/** Without its newest value, a plan would count years from an older one and show too much. */
function historyProblems(files: readonly DataFile[], history: Column): readonly Problem[] {
  const unclear = files.find((file) => file.rows > 0 && !file.bounds.has(history.name))
  if (!unclear) return []
  const message = `${unclear.name}: years can't be counted from column ${quoted(history.name)}`
  return [{ path: ['history'], message }]
}
