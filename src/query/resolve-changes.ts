import type { Access } from '../access/access.js'
import type { Column } from '../columns/column.js'
import { listPredicates, predicateKey } from '../columns/predicate.js'
import type { WatchList } from '../control/hooks/watch-lists.js'
import { ServiceError, badRequest } from '../errors.js'
import { listed, quoted } from '../text.js'
import type { ChangedColumn, ReadySet } from '../versions/changes/change-set.js'
import type { Changes } from './changes.js'
import { checkLimit, findColumn, selectColumns } from './check-parts.js'
import { badCursor, readCursor, writeCursor } from './cursor.js'
import type { CursorScope } from './cursor.js'
import type { RawChanges } from './parse-changes.js'
import type { Position } from './question.js'
import { filtersKey, readFilters } from './read-filters.js'
import type { Filter } from './read-filters.js'

/** A question for changes that is ready to run, and its cursors. */
export interface ResolvedChanges {
  /** Access to the later version: the cursor's, otherwise the newest. */
  readonly access: Access
  readonly question: Changes
  readonly format: 'json'
  readonly headings: null
  /** The caller's filters, without those that the access adds. */
  readonly filters: readonly Filter[]
  readonly cursorAfter: (position: Position) => string
  /** Equal for requests with equal answers on the same version and access. */
  readonly key: string
  /** How the columns differ, for the first page; null where they don't. */
  readonly columns: ColumnNames | null
}

/** Columns by their names. */
interface ColumnNames {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}

/** What differs from a version to the one that is asked about, the earliest step first. */
export type FindSets = (since: string) => Promise<readonly ReadySet[]>

/**
 * Turns the caller's input into changes within the caller's access. No later stage refuses them.
 * @throws bad_request naming what is wrong; what `findSets` throws
 */
export async function resolveChanges(
  access: Access,
  principal: string,
  cursorKey: Uint8Array,
  { watch, ...raw }: Omit<RawChanges, 'watch'> & { readonly watch: WatchList | null },
  findSets: FindSets,
  usualLimit = access.dataset.limit.default,
): Promise<ResolvedChanges> {
  if (raw.format !== null && raw.format !== 'json') {
    throw new ServiceError('not_acceptable', 'Changes are served as JSON. Leave format out.')
  }
  const filters = await readFilters(raw.filters, (name) => findColumn(access, name))
  const watched = watch && findColumn(access, watch.column)
  const ofList = watch && watched ? listPredicates(watched, 'in', watch.values) : []
  const counted = watch?.fields.map((name) => findColumn(access, name)) ?? []
  const watchKey = JSON.stringify([ofList.map(predicateKey), watch?.fields ?? []])
  const scope: CursorScope = {
    dataset: access.dataset.name,
    version: access.version.id,
    principal,
    filters: `changes ${filtersKey(filters)} ${watchKey}`,
  }
  const position = raw.cursor === null ? null : readCursor(cursorKey, scope, raw.cursor)
  const { since, after } = startOf(raw, position)
  const columns = raw.select === null ? access.columns : selectColumns(access, raw.select)
  const { max } = access.dataset.limit
  const limit = checkLimit(raw.limit, { usual: Math.min(usualLimit, max), max })
  const { version } = access
  const sets = await findSets(since)
  const asked = filters.flatMap(({ predicates }) => predicates)
  const ofFilters = filters.map(({ column }) => column)
  requireSame(access, sets, raw, [
    ...columns,
    ...ofFilters,
    ...counted,
    ...(watched ? [watched] : []),
  ])
  const predicates = [...access.predicates, ...ofList, ...asked]
  return {
    access,
    question: Object.freeze({ version, sets, predicates, columns, counted, after, limit }),
    format: 'json',
    headings: null,
    filters,
    cursorAfter: (last) => writeCursor(cursorKey, scope, withSince(since, last)),
    key: JSON.stringify([
      ...['changes', since, scope.filters, columns.map(({ name }) => name), limit],
      raw.cursor,
    ]),
    columns: raw.cursor === null ? columnNames(access, sets) : null,
  }
}

/** The version that the caller has, and the last key received. */
function startOf(
  { since }: Pick<RawChanges, 'since'>,
  position: Position | null,
): { readonly since: string; readonly after: Changes['after'] } {
  if (position) {
    const [started, ...key] = 'key' in position ? position.key : []
    if (typeof started !== 'string' || (since !== null && since !== started)) throw badCursor()
    return { since: started, after: { key } }
  }
  if (since !== null) return { since, after: null }
  throw badRequest('since is missing. Name the version that you have; …/versions lists them.')
}

function withSince(since: string, last: Position): Position {
  return 'key' in last ? { key: [since, ...last.key] } : last
}

/**
 * Refuses what can't be judged by rows: columns that were removed or have another type, and a
 * window or subset by a column that the earlier version lacked.
 */
function requireSame(
  { version, predicates }: Access,
  sets: readonly ReadySet[],
  { select }: Pick<RawChanges, 'select'>,
  used: readonly Column[],
): void {
  const gone = sets.flatMap(({ columns }) => [...columns.removed, ...columns.retyped])
  const ofAccess = predicates.flatMap((each) => (each.kind === 'nothing' ? [] : each.column))
  const isUsed = ({ source }: ChangedColumn) => used.some((column) => column.source === source)
  const isLost = gone.some((each) => select === null || isUsed(each))
  const isSeenBefore = ofAccess.every(({ source }) =>
    sets.every(
      ({ sources, columns }) =>
        sources.includes(source) &&
        ![...columns.added, ...columns.removed].some((each) => each.source === source),
    ),
  )
  if (!isLost && isSeenBefore) return
  const names = listed(gone.filter((each) => isUsed(each)).map(({ name }) => quoted(name)))
  const what = names === '' ? 'Columns were' : `${names} was`
  throw takeExport(`${what} removed or got another type since then`, version.id)
}

/** The advice where changes can't bring a copy up to date. */
export function takeExport(why: string, version: string): ServiceError {
  return badRequest(`${why}: take an export, and go on from version ${version}.`)
}

/** How the columns that the caller sees differ between the first version and the last. */
function columnNames({ columns, version }: Access, sets: readonly ReadySet[]): ColumnNames | null {
  const now = new Set(columns.map(({ name }) => name))
  const hidden = new Set(version.columns.filter((each) => each.hidden).map(({ source }) => source))
  const happened = new Map<string, (keyof ReadySet['columns'])[]>()
  for (const set of sets) {
    for (const kind of ['removed', 'added', 'retyped'] as const) {
      for (const { name, source } of set.columns[kind]) {
        if (!hidden.has(source)) happened.set(name, [...(happened.get(name) ?? []), kind])
      }
    }
  }
  const wasThere = (name: string) => happened.get(name)?.[0] !== 'added'
  const names = [...happened.keys()]
  const found = {
    added: names.filter((name) => now.has(name) && !wasThere(name)),
    removed: names.filter((name) => !now.has(name) && wasThere(name)),
    changed: names.filter((name) => now.has(name) && wasThere(name)),
  }
  return Object.values(found).every((list) => list.length === 0) ? null : found
}
