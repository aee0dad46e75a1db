import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import { columnFinder } from '../registry/column-names.js'
import type { FindColumn } from '../registry/column-names.js'
import { demoSubset } from '../registry/demo-subset.js'
import { inEnglish, inEnglishOrNull, inRussian } from '../registry/local-text.js'
import { definedMeasures, requireMeasureColumns } from '../registry/measures.js'
import type { DefinedMeasure } from '../registry/measures.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import { listOf, plansOf } from '../registry/registry.js'
import type { Plan, Problem, Registry } from '../registry/registry.js'
import { quoted } from '../text.js'
import { buildVersion } from '../versions/files/build-version.js'
import type { OpenedContent } from '../versions/files/build-version.js'
import { readPartitions } from '../versions/files/partition.js'
import { uniteColumns } from '../versions/files/unite.js'
import type { ColumnTexts } from '../versions/files/unite.js'
import { entityOf } from './entity.js'
import { firstNamesOf, requireFirstColumns } from './first-columns.js'
import type { FirstNames } from './first-columns.js'
import { linksOf } from './links.js'
import type { Link } from './links.js'
import { derivedVersion } from '../versions/version.js'
import type { Version } from '../versions/version.js'

/** A dataset in the catalog: its entry in the registry, and its version or the reason for none. */
export interface Dataset {
  readonly name: string
  readonly title: string
  readonly description: string | null
  readonly source: string | null
  /** The same in Russian, for pages and letters; null where the registry has no such text. */
  readonly russian: {
    readonly title: string | null
    readonly description: string | null
    readonly source: string | null
  }
  /** The date of the data, as the registry says; null = the newest value of the history column. */
  readonly asOf: string | null
  readonly listed: boolean
  /** Columns of datasets that hold the key of its entities. */
  readonly links: readonly Link[]
  /** Which columns a first question shows. */
  readonly firstNames: FirstNames
  readonly limit: { readonly default: number; readonly max: number }
  readonly requireFilter: boolean
  readonly timeoutMs: number
  /** What a group of rows costs; null if groups are switched off. */
  readonly aggregates: { readonly rowsPerGroup: number } | null
  /** Those that the owner defines. Their columns may be hidden by now. */
  readonly measures: readonly DefinedMeasure[]
  readonly plans: ReadonlyMap<string, Plan>
  /** Whether the registry has a demo subset, also if the dataset can't be served. */
  readonly hasDemo: boolean
  /** The demo subset of the version; null if the demo token has no grant. */
  readonly demo: readonly Predicate[] | null
  readonly version: Version | null
  /** Superseded versions that walks may still use, the newest last. */
  readonly earlier: readonly EarlierVersion[]
  /** Why there is no version, or not the newest; shown to the owner, never to a caller. */
  readonly reason: string | null
  /** What callers may misread in the version, for the owner. */
  readonly warnings: readonly string[]
}

/** A superseded version under today's registry. */
export interface EarlierVersion {
  readonly version: Version
  /** The demo subset in its columns; null without one. */
  readonly demo: readonly Predicate[] | null
}

const defaultLimit = 100
const defaultLimitMax = 1000
const defaultTimeoutSeconds = 10
/** More rows than this require a filter, unless the registry says otherwise. */
const largeRows = 100_000

/** A dataset by its registry entry alone, without files. */
export function registryDataset(name: string, entry: DatasetEntry): Dataset {
  const max = entry.limit?.max ?? Math.max(defaultLimitMax, entry.limit?.default ?? 0)
  return Object.freeze({
    name,
    title: inEnglish(entry.title),
    description: inEnglishOrNull(entry.description),
    source: inEnglishOrNull(entry.source),
    russian: Object.freeze({
      title: inRussian(entry.title),
      description: inRussian(entry.description),
      source: inRussian(entry.source),
    }),
    asOf: entry.as_of === undefined ? null : String(entry.as_of),
    listed: entry.listed ?? false,
    links: linksOf(entry),
    firstNames: firstNamesOf(entry),
    limit: Object.freeze({ default: entry.limit?.default ?? Math.min(defaultLimit, max), max }),
    requireFilter: entry.require_filter === true,
    timeoutMs: (entry.timeout_seconds ?? defaultTimeoutSeconds) * 1000,
    aggregates:
      entry.aggregates === false
        ? null
        : Object.freeze({ rowsPerGroup: entry.aggregates?.rows_per_group ?? 1 }),
    measures: definedMeasures(entry),
    plans: plansOf(entry),
    hasDemo: entry.demo !== undefined,
    demo: null,
    version: null,
    earlier: [],
    reason: null,
    warnings: [],
  })
}

/**
 * Joins a registry entry with its files. Returns every mistake with its location in the registry;
 * a dataset with a mistake must not be served.
 */
export function buildDataset(
  name: string,
  registry: Registry,
  entry: DatasetEntry,
  content: OpenedContent,
  texts: ColumnTexts,
): { readonly dataset: Dataset; readonly problems: readonly string[] } {
  const partitions = readPartitions(content.files)
  const united = uniteColumns(content.files, partitions, entry, texts)
  const problems: Problem[] = [...united.problems]
  const find = columnFinder(united.columns, problems)
  const key = listOf(entry.key).flatMap((column, index) => find(column, ['key', index]) ?? [])
  const lookUps = lookUpColumns(entry, key, find, problems)
  const history = historyColumn(entry, find, problems)
  if (content.table) problems.push(...keyProblems(key))
  requireFirstColumns(entry, find, problems)
  const { columns } = united
  requireMeasureColumns(entry, columns, history, problems)
  const built = buildVersion(name, content, { columns, key, lookUps, history, partitions })
  problems.push(...built.problems)
  const scalarAt = (path: Problem['path']) => registry.scalarAt(['datasets', name, ...path])
  const demo = demoSubset(entry, find, scalarAt, problems)
  const entity = entityOf(entry, find, { aliases: texts.aliases, demo, history }, problems)
  const version = Object.freeze({ ...built.version, entity })
  const requireFilter =
    typeof entry.require_filter === 'boolean' ? entry.require_filter : version.rows > largeRows
  return {
    dataset: Object.freeze({ ...registryDataset(name, entry), requireFilter, demo, version }),
    problems: problems.map(
      ({ path, message }) => `${registry.locate(['datasets', name, ...path])}: ${message}`,
    ),
  }
}

/**
 * Whether the server makes the forms of a version by itself: many rows, or entities, whose pages
 * read all columns of a few rows.
 */
export function packsBySelf({ pack }: DatasetEntry, version: Version): boolean {
  const { key, rows, entity, lookUps } = version
  if (pack !== undefined) return pack === 'auto'
  const isByEntity = entity !== null && lookUps.includes(entity.key)
  return key.length > 0 && (rows > largeRows || isByEntity)
}

/** The names in the files of columns with these shown names. */
export function sourceNames(entry: DatasetEntry, shown: readonly string[]): readonly string[] {
  const renamed = new Map(
    Object.entries(entry.columns ?? {}).map(([source, { name }]) => [name ?? source, source]),
  )
  return shown.map((name) => renamed.get(name) ?? name)
}

/** A superseded version with the hidden columns and the demo subset of today's registry. */
export function earlierVersion(
  version: Version,
  registry: Registry,
  entry: DatasetEntry,
): EarlierVersion {
  const today = (column: Column) => {
    const isNamed = Object.hasOwn(entry.columns ?? {}, column.source)
    const isHidden = isNamed && entry.columns?.[column.source]?.hidden === true
    return isHidden ? { ...column, hidden: true } : column
  }
  const columns = version.columns.map(today)
  const problems: Problem[] = []
  // By today's names: an old name may now belong to another column.
  const find: FindColumn = (name, path) => {
    const [source] = sourceNames(entry, [name])
    const column = columns.find((each) => each.source === source)
    if (!column) problems.push({ path, message: `there was no column ${quoted(name)}` })
    return column
  }
  const place = ['datasets', version.dataset]
  const scalarAt = (path: Problem['path']) => registry.scalarAt([...place, ...path])
  const demo = demoSubset(entry, find, scalarAt, problems)
  return Object.freeze({
    version: Object.freeze({
      ...version,
      columns,
      key: version.key.map(today),
      lookUps: version.lookUps.map(today),
      history: version.history && today(version.history),
      // Its index has the former columns and demo subset.
      entity: null,
      names: null,
    }),
    demo: problems.length > 0 ? null : demo,
  })
}

/** A dataset whose new entry does not fit its files: keeps the old entry, but hides what is new. */
export function narrowedDataset(
  dataset: Dataset,
  { registry, entry }: { readonly registry: Registry; readonly entry: DatasetEntry },
  reason: string,
): Dataset {
  const { version } = dataset
  const hasDemo = entry.demo !== undefined
  if (!version) return Object.freeze({ ...dataset, hasDemo, reason })
  const narrowed = earlierVersion(version, registry, entry)
  const hidden = (columns: readonly Column[]) => columns.filter((column) => column.hidden)
  const nowHidden = hidden(narrowed.version.columns)
  const hidesMore = nowHidden.length > hidden(version.columns).length
  const next = hidesMore ? derivedVersion(narrowed.version, nowHidden) : version
  return Object.freeze({ ...dataset, hasDemo, version: next, demo: narrowed.demo, reason })
}

/** The order of a table's rows is that of its key, whose values cursors hold. */
function keyProblems(key: readonly Column[]): readonly Problem[] {
  return key.flatMap(({ name, rules: { shown, domain } }, index) => {
    const isOrdered =
      domain.kind === 'grid' ||
      domain.kind === 'boolean' ||
      (domain.kind === 'text' && domain.form !== 'rendered')
    if (isOrdered) return []
    const message = `column ${quoted(name)} (${shown}) can't order rows; its values are not exact`
    return [{ path: ['key', index], message }]
  })
}

/** The first column of the key, if values of its type can be asked for, and those of `lookups`. */
function lookUpColumns(
  { lookups }: DatasetEntry,
  key: readonly Column[],
  find: FindColumn,
  problems: Problem[],
): readonly Column[] {
  const hasEquals = (column: Column) => columnOperators(column).includes('eq')
  const added = listOf(lookups).flatMap((name, index) => {
    const column = find(name, ['lookups', index])
    if (!column || hasEquals(column)) return column ?? []
    const message = `column ${quoted(name)} (${column.rules.shown}) has no operator eq`
    problems.push({ path: ['lookups', index], message })
    return []
  })
  return [...new Set([...key.slice(0, 1).filter(hasEquals), ...added])]
}

const yearTypes: readonly string[] = ['integer', 'date', 'timestamp']

function historyColumn(
  { history }: DatasetEntry,
  find: FindColumn,
  problems: Problem[],
): Column | null {
  const column = history === undefined ? undefined : find(history, ['history'])
  if (!column) return null
  if (yearTypes.includes(column.rules.shown)) return column
  problems.push({
    path: ['history'],
    message:
      `column ${quoted(column.name)} is of type ${column.rules.shown}; history counts years in ` +
      'an integer, date or timestamp column',
  })
  return null
}
