import type { DuckDBBlobValue } from '@duckdb/node-api'
import { isFloat, typeText } from '../../../columns/data-type.js'
import type { Column } from '../../../columns/column.js'
import type { Predicate } from '../../../columns/predicate.js'
import type { Changes } from '../../../query/changes.js'
import type { KeyPosition } from '../../../query/question.js'
import type { ReadySet } from '../../../versions/changes/change-set.js'
import type { Rows } from '../../engine.js'
import { condition, presentValue } from '../../sql/condition.js'
import { encodeCell, encodeRow, textOf } from '../../sql/encode.js'
import { afterKey, keyOrder, keyTexts } from '../../sql/key-order.js'
import { literal } from '../../sql/quote.js'
import { bindBigint } from '../bind.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { SqlParameters } from './condition.js'

/** A range of keys: after one, up to another. */
interface Range {
  readonly after: KeyPosition | null
  readonly upTo: KeyPosition | null
}

/** The first range of a page has so many keys, and each further one more: filters may pass few. */
const keysMin = 4096
const growth = 8

/**
 * The changes after a key, as JSON, in the order of the key. It reads ranges of keys until the page
 * is full, so that a page costs the same at any depth.
 */
export async function readChanges(changes: Changes, run: RunStatement): Promise<Rows<KeyPosition>> {
  const { limit, sets } = changes
  const rows = sets.reduce((sum, set) => sum + set.rows, 0)
  const found: Rows<KeyPosition>['rows'][number][] = []
  let { after } = changes
  for (let keys = Math.max(keysMin, 2 * limit); ; keys *= growth) {
    const upTo = keys < rows ? await endOfRange(changes, after, keys, run) : null
    const missing = limit + 1 - found.length
    const [lines = [], ...texts] = await run(compileChanges(changes, { after, upTo }, missing))
    for (const [index, line] of lines.entries()) {
      const { buffer, byteOffset, byteLength } = (line as DuckDBBlobValue).bytes
      const encoded = Buffer.from(buffer, byteOffset, byteLength)
      found.push({ encoded, position: { key: texts.map((column) => String(column[index])) } })
    }
    const hasMore = found.length > limit
    if (hasMore || upTo === null) return { rows: found.slice(0, limit), hasMore }
    after = upTo
  }
}

/** The last key of the range of so many keys after one; null if there are not so many. */
async function endOfRange(
  changes: Changes,
  after: KeyPosition | null,
  keys: number,
  run: RunStatement,
): Promise<KeyPosition | null> {
  const { key } = changes.version
  const parameters = new SqlParameters()
  const names = key.map((_, index) => `k${index}`).join(', ')
  const rows = rowsWhere(changes, [], { after, upTo: null }, parameters)
  // A set has at most two rows of a key.
  const rowsMax = parameters.add(bindBigint(2 * changes.sets.length * keys))
  const place = parameters.add(bindBigint(keys - 1))
  const texts = await run({
    sql: `SELECT ${keyTexts(duckdb, key.map(asKey))}
      FROM (SELECT DISTINCT ${names}
        FROM (SELECT ${names} ${rows} ORDER BY ${keyOrder(key)} LIMIT ${rowsMax}))
      ORDER BY ${keyOrder(key)} LIMIT 1 OFFSET ${place}`,
    values: parameters.values,
  })
  return texts[0]?.length ? { key: texts.map(([text]) => String(text)) } : null
}

/**
 * The net change of each key: the first row before any change of it, and the last row after all of
 * them, each as far as the predicates let it be seen.
 */
function compileChanges(changes: Changes, range: Range, limit: number) {
  const { version, columns, counted } = changes
  const parameters = new SqlParameters()
  const { key } = version
  const names = key.map((_, index) => `k${index}`).join(', ')
  const isCounted = counted.length === 0 ? 'true' : anyOf(differences(counted, 'f'))
  const now = columns.map((column, index) => ({ column, sql: `s${index}` }))
  const fields = differences(columns, 's').map(
    ({ column, sql }) => `CASE WHEN ${sql} THEN ${literal(JSON.stringify(column.name))} END`,
  )
  const keyCells = key.map((column, index) => ({ column: asKey(column), sql: `k${index}` }))
  // Each difference and each cell is written once: of wide rows, planning takes the most time.
  const sql = `
    WITH events AS MATERIALIZED (${eventsOf(changes, range, parameters)}),
    ends AS (
      SELECT ${names}, min(event) AS begun, max(event) AS ended FROM events GROUP BY ${names}
    ),
    judged AS (
      SELECT ends.*, ${now.map((cell) => `n.${cell.sql}`).join(', ')},
        array_to_string([${fields.join(', ')}], ',') AS fields, ${isCounted} AS is_counted,
        begun % 2 = 0 AND o.seen AS was_seen, ended % 2 = 1 AND n.seen AS is_seen
      FROM ends
      JOIN (SELECT * RENAME (event AS begun) FROM events) AS o USING (${names}, begun)
      JOIN (SELECT * RENAME (event AS ended) FROM events) AS n USING (${names}, ended)
    ),
    page AS (
      SELECT * FROM judged
      WHERE was_seen <> is_seen OR (was_seen AND fields <> '' AND is_counted)
      ORDER BY ${keyOrder(key)} LIMIT ${parameters.add(bindBigint(limit))}
    )
    SELECT encode(CASE
      WHEN NOT is_seen THEN '{"change":"removed","fields":[],"row":' ||
        ${encodeRow(duckdb, keyCells)} || '}'
      ELSE '{"change":"' || CASE WHEN was_seen THEN 'changed","fields":[' || fields
        ELSE 'added","fields":[' END || '],"row":' || ${encodeRow(duckdb, now)} || '}'
      END), ${keyTexts(duckdb, key.map(asKey))}
    FROM page ORDER BY ${keyOrder(key)}`
  return { sql, values: parameters.values }
}

/** For each column, whether the two rows of a key differ in it; `prefix` as in `eventsOf`. */
function differences(columns: readonly Column[], prefix: string) {
  return columns.map((column, index) => {
    const [was, is] = ['o', 'n'].map((row) => comparable(column, `${row}.${prefix}${index}`))
    return { column, sql: `${was} IS DISTINCT FROM ${is}` }
  })
}

function anyOf(conditions: readonly { readonly sql: string }[]): string {
  return `(${conditions.map(({ sql }) => sql).join(' OR ')})`
}

/** The rows of the sets: their key, their place in time, and what the caller would see of them. */
function eventsOf(changes: Changes, range: Range, parameters: SqlParameters): string {
  const { version, columns, counted } = changes
  const judging = changes.predicates.filter((each) => !isOfKey(each, version.key))
  const judged = judgedBy(judging)
  const cells = [
    ...columns.map((column, index) => ({ column, name: `s${index}` })),
    ...counted.map((column, index) => ({ column, name: `f${index}` })),
    ...judged.map((column, index) => ({ column, name: `p${index}` })),
  ]
  const rows = rowsWhere(changes, cells, range, parameters)
  const seen = conditions(judging, (column) => nameIn(judged, 'p', column), parameters)
  return `SELECT *, coalesce(${seen}, false) AS seen ${rows}`
}

/** The columns of predicates, each once. */
function judgedBy(predicates: readonly Predicate[]): readonly Column[] {
  const columns = predicates.flatMap((each) => (each.kind === 'nothing' ? [] : [each.column]))
  return [...new Map(columns.map((column) => [column.source, column])).values()]
}

/**
 * FROM and WHERE of the rows of all sets, with their key (`k0`, …), their event and these cells.
 * All rows of a key meet a predicate of the key, or none does. Each value is bound once.
 */
function rowsWhere(
  { version: { key }, sets, predicates }: Changes,
  cells: readonly { readonly column: Column; readonly name: string }[],
  { after, upTo }: Range,
  parameters: SqlParameters,
): string {
  const ofKey = predicates.filter((each) => isOfKey(each, key))
  const rows = filesOf(sets).map((files) => {
    const sqlOf = columnsOf(files)
    const selected = [
      ...key.map((column, index) => `${keySql(column, sqlOf)} AS k${index}`),
      ...cells.map(({ column, name }) => `${sqlOf(column)} AS ${name}`),
    ]
    return `SELECT ${selected.join(', ')},
      2 * (${files.newest} - CAST(file_index AS BIGINT)) + side AS event
      FROM ${boundFilesSql(parameters.add(bindPaths(files.paths)))}`
  })
  const nameOf = (column: Column) => nameIn(key, 'k', column)
  const where = [
    ...(after ? [afterKey(key, after, nameOf, parameters)] : []),
    ...(upTo ? [`NOT (${afterKey(key, upTo, nameOf, parameters)})`] : []),
    conditions(ofKey, nameOf, parameters),
  ]
  return `FROM (${rows.join(' UNION ALL ')}) WHERE ${where.join(' AND ')}`
}

/** What a column of a list is called in a statement. */
function nameIn(columns: readonly Column[], prefix: string, { source }: Column): string {
  return `${prefix}${columns.findIndex((each) => each.source === source)}`
}

function conditions(
  predicates: readonly Predicate[],
  nameOf: (column: Column) => string,
  parameters: SqlParameters,
): string {
  return predicates.map((each) => condition(each, nameOf, parameters)).join(' AND ') || 'true'
}

function isOfKey(predicate: Predicate, key: readonly Column[]): boolean {
  if (predicate.kind === 'nothing') return true
  return key.some(({ source }) => source === predicate.column.source)
}

/** Files of sets after one another that have the same columns. */
interface ReadFiles {
  /** The newest first: its types are the widest. */
  readonly paths: string[]
  /** The number of the set of the first one. */
  readonly newest: number
  /** The source of a column is null where callers did not know it then. */
  readonly sources: readonly (string | null)[]
}

/**
 * The files of sets, as few reads as can be: many versions may lie between. Without the columns
 * that only a later set shows: before it they were hidden, or not there.
 */
function filesOf(sets: readonly ReadySet[]): readonly ReadFiles[] {
  const added = new Set<string>()
  const found: ReadFiles[] = []
  for (const [newest, { path, columns, ...set }] of [...sets.entries()].reverse()) {
    const sources = set.sources.map((source) => (added.has(source) ? null : source))
    for (const { source } of columns.added) added.add(source)
    const later = found.at(-1)
    if (JSON.stringify(later?.sources) === JSON.stringify(sources)) later?.paths.push(path)
    else found.push({ paths: [path], newest, sources })
  }
  return found
}

/** SQL of the columns in files, in their types of today; null if they have no such column. */
function columnsOf({ sources }: ReadFiles): (column: Column) => string {
  return ({ source, type }) => {
    const index = sources.indexOf(source)
    return `CAST(${index < 0 ? 'NULL' : `c${index}`} AS ${typeText(type)})`
  }
}

/** Equal for values that are served alike. */
function comparable(column: Column, sql: string): string {
  const { kind } = column.type
  const isExact = (kind === 'scalar' && !isFloat(column.type)) || kind === 'decimal'
  return isExact ? presentValue(duckdb, column, sql) : encodeCell(duckdb, column, sql)
}

/** Texts of a list of values have the order of texts. */
function keySql(column: Column, sqlOf: (column: Column) => string): string {
  return column.type.kind === 'enum' ? textOf(sqlOf(column)) : sqlOf(column)
}

function asKey(column: Column): Column {
  return column.type.kind === 'enum'
    ? { ...column, type: { kind: 'scalar', name: 'VARCHAR' } }
    : column
}
