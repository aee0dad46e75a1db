import { createHash } from 'node:crypto'
import type { Column } from './column.js'
import type { DictionaryEntry } from './dictionary.js'
import { didYouMean, quoted } from './nearest.js'
import type { OpenedFile, TextBounds } from './opener.js'
import { filterPredicates } from './predicate.js'
import type { Predicate } from './predicate.js'
import { listOf, plansOf } from './registry.js'
import type { Plan, Registry } from './registry.js'
import type { DatasetEntry } from './registry-schema.js'
import type { SourceFile } from './source-files.js'
import { typeText } from './data-type.js'
import { fileLayout, uniteColumns } from './unite.js'
import type { Problem } from './unite.js'
import { onGrid } from './values.js'
import type { Bounds, DataFile, Version } from './version.js'

/** A dataset as the catalog serves it: the registry's words, and its version or why it has none. */
export interface Dataset {
  readonly name: string
  readonly title: string
  readonly description: string | null
  readonly source: string | null
  readonly listed: boolean
  readonly limit: { readonly default: number; readonly max: number }
  readonly requireFilter: boolean
  readonly timeoutMs: number
  readonly plans: ReadonlyMap<string, Plan>
  /** The demo subset; null where the demo token has no grant. */
  readonly demo: readonly Predicate[] | null
  readonly version: Version | null
  /** Why there is no version; for the owner, never for a caller. */
  readonly reason: string | null
}

const defaultLimit = 100
const defaultLimitMax = 1000
const defaultTimeoutSeconds = 10
/** More rows than this ask for a filter, unless the registry says otherwise (contract 1.2). */
const largeRows = 100_000

/** What the registry alone says of a dataset, before or without its files. */
export function describeDataset(name: string, entry: DatasetEntry): Dataset {
  const max = entry.limit?.max ?? Math.max(defaultLimitMax, entry.limit?.default ?? 0)
  return Object.freeze({
    name,
    title: entry.title,
    description: entry.description ?? null,
    source: entry.source ?? null,
    listed: entry.listed ?? false,
    limit: Object.freeze({ default: entry.limit?.default ?? Math.min(defaultLimit, max), max }),
    requireFilter: entry.require_filter === true,
    timeoutMs: (entry.timeout_seconds ?? defaultTimeoutSeconds) * 1000,
    plans: plansOf(entry),
    demo: null,
    version: null,
    reason: null,
  })
}

/** A source file, where it is served from, and what the engine found in it. */
export interface ReadFile {
  readonly source: SourceFile
  readonly path: string
  readonly opened: OpenedFile
}

/**
 * Joins the registry's words with what the files hold.
 * Every mistake is reported, with its place in the registry.
 */
export function buildDataset(
  name: string,
  registry: Registry,
  entry: DatasetEntry,
  files: readonly ReadFile[],
  dictionary: ReadonlyMap<string, DictionaryEntry>,
): { readonly dataset: Dataset; readonly problems: readonly string[] } {
  const { columns, problems: columnProblems } = uniteColumns(
    files.map((file) => ({ name: file.source.name, file: file.opened })),
    entry,
    dictionary,
  )
  const problems: Problem[] = [...columnProblems, ...planProblems(entry)]
  const find = columnFinder(columns, problems)
  const key = listOf(entry.key).map((column, index) => find(column, ['key', index]))
  const history = entry.history === undefined ? null : find(entry.history, ['history'])
  if (history && !countsYears(history)) {
    problems.push({
      path: ['history'],
      message: `column ${quoted(history.name)} is a ${history.rules.shown}; history counts years in an integer, date or timestamp column`,
    })
  }
  const version = makeVersion(name, files, columns, key.filter(isColumn), history ?? null)
  const demo = demoSubset(name, registry, entry, find, problems)
  const base = describeDataset(name, entry)
  const isLarge = version.rows > largeRows
  const requireFilter = typeof entry.require_filter === 'boolean' ? entry.require_filter : isLarge
  return {
    dataset: Object.freeze({ ...base, requireFilter, demo, version }),
    problems: problems.map(
      ({ path, message }) => `${registry.locate(['datasets', name, ...path])}: ${message}`,
    ),
  }
}

type Find = (name: string, path: readonly (string | number)[]) => Column | undefined

function columnFinder(columns: readonly Column[], problems: Problem[]): Find {
  const byName = new Map(columns.map((column) => [column.name, column]))
  return (name, path) => {
    const column = byName.get(name)
    if (!column) {
      const near = didYouMean(name, byName.keys())
      problems.push({ path, message: `there is no column ${quoted(name)}.${near}` })
    }
    return column
  }
}

function isColumn(column: Column | undefined): column is Column {
  return column !== undefined
}

function countsYears(column: Column): boolean {
  return ['integer', 'date', 'timestamp'].includes(column.rules.shown)
}

function planProblems(entry: DatasetEntry): readonly Problem[] {
  if (entry.history !== undefined) return []
  return Object.entries(entry.plans ?? {})
    .filter(([, plan]) => plan.history !== 'all')
    .map(([name]) => ({
      path: ['plans', name, 'history'],
      message: `plan "${name}" counts years, but the dataset names no "history" column`,
    }))
}

function demoSubset(
  name: string,
  registry: Registry,
  entry: DatasetEntry,
  find: Find,
  problems: Problem[],
): readonly Predicate[] | null {
  if (!entry.demo) return null
  const predicates: Predicate[] = []
  for (const [columnName, values] of Object.entries(entry.demo)) {
    const column = find(columnName, ['demo', columnName])
    if (!column) continue
    const texts = values.map((_, index) => {
      const path = ['demo', columnName, index]
      const { text, isText } = registry.written(['datasets', name, ...path])
      if (column.rules.shown === 'string' && !isText) {
        problems.push({ path, message: `${columnName} is a string column: quote it, "${text}"` })
      }
      return text
    })
    try {
      predicates.push(...filterPredicates(column, 'in', texts))
    } catch (cause) {
      problems.push({ path: ['demo', columnName], message: (cause as Error).message })
    }
  }
  return Object.freeze(predicates)
}

function makeVersion(
  dataset: string,
  files: readonly ReadFile[],
  columns: readonly Column[],
  key: readonly Column[],
  history: Column | null,
): Version {
  const bounded = [...new Set([...key, ...(history ? [history] : [])])]
  const dataFiles = files.map((file) => dataFile(file, bounded))
  return Object.freeze({
    id: versionId(files, columns),
    dataset,
    files: dataFiles,
    columns,
    key,
    history,
    newestHistory: history ? newest(dataFiles, history) : undefined,
    rows: files.reduce((sum, file) => sum + file.opened.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.source.sizeBytes, 0),
    modifiedMs: files.reduce((newest, file) => Math.max(newest, file.source.modifiedMs), 0),
  })
}

/** Content facts only (no times, no paths): two servers over the same files agree. */
function versionId(files: readonly ReadFile[], columns: readonly Column[]): string {
  const hash = createHash('sha256')
  for (const { source } of files) hash.update(`${source.sizeBytes} ${source.footerHash}\n`)
  for (const { name, source, type, asText, hidden } of columns) {
    hash.update(JSON.stringify([name, source, typeText(type), asText, hidden]))
  }
  return hash.digest('hex').slice(0, 16)
}

function dataFile(file: ReadFile, bounded: readonly Column[]): DataFile {
  const bounds = new Map<string, Bounds | null>()
  for (const column of bounded) {
    const found = file.opened.bounds.get(column.source)
    const holds = file.opened.columns.some(({ name }) => name === column.source)
    const parsed = holds ? found && parseBounds(found, column) : null
    if (parsed || found === null || !holds) bounds.set(column.name, parsed ?? null)
  }
  return Object.freeze({
    path: file.path,
    name: file.source.name,
    rows: file.opened.rows,
    ...fileLayout(file.opened),
    bounds,
  })
}

/** Bounds as values of the column; undefined where they can't be told, which prunes nothing. */
function parseBounds(bounds: TextBounds, column: Column): Bounds | undefined {
  const domain = column.rules.domain
  if (domain.kind === 'text' && domain.form === 'text') return bounds
  if (domain.kind !== 'grid') return undefined
  const [min, max] = [domain.parse(bounds.min), domain.parse(bounds.max)]
  if (!min || !max) return undefined
  return { min: onGrid(min, domain.scale).floor, max: onGrid(max, domain.scale).floor }
}

function newest(files: readonly DataFile[], history: Column): bigint | undefined {
  let max: bigint | undefined
  for (const file of files) {
    const value = file.bounds.get(history.name)?.max
    if (typeof value === 'bigint' && (max === undefined || value > max)) max = value
  }
  return max
}
