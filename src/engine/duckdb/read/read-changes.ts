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

/** The last key of the range of about so many keys after one; null if there are not so many. */
async function endOfRange(
  { version: { key }, sets }: Changes,
  after: KeyPosition | null,
  keys: number,
  run: RunStatement,
): Promise<KeyPosition | null> {
  const parameters = new SqlParameters()
  const names = key.map((_, index) => `k${index}`).join(', ')
  const rows = sets.map((set) => {
    const sqlOf = columnsOf(set)
    const cells = key.map((column, index) => `${keySql(column, sqlOf)} AS k${index}`)
    return `SELECT ${cells.join(', ')} ${fromWhere(set, key, { after, upTo: null }, parameters)}`
  })
  const place = parameters.add(bindBigint(keys - 1))
  const texts = await run({
    sql: `SELECT ${keyTexts(duckdb, key.map(asKey))}
      FROM (SELECT DISTINCT ${names} FROM (${rows.join(' UNION ALL ')}))
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
  const { version, sets, columns, counted } = changes
  const parameters = new SqlParameters()
  const { key } = version
  const names = key.map((_, index) => `k${index}`).join(', ')
  const known = sets.map((set, index) => withoutUnseen(set, sets.slice(index + 1)))
  const asked = { ...changes, judged: judgedBy(changes.predicates) }
  const rows = known.map((set, index) => rowsOf(set, index, asked, range, parameters))
  const { seen, ofKey } = conditionsOf(asked, parameters)
  const differing = differences(columns, '')
  const isCounted = counted.length === 0 ? 'true' : anyOf(differences(counted, 'f'))
  const now = columns.map((column, index) => ({ column, sql: `n.s${index}` }))
  const fields = differing.map(
    ({ column, sql }) => `CASE WHEN ${sql} THEN ${literal(JSON.stringify(column.name))} END`,
  )
  const keyCells = key.map((column, index) => ({ column: asKey(column), sql: `k${index}` }))
  const changed = `'{"change":"changed","fields":[' || array_to_string([${fields.join(', ')}], ',')
    || '],"row":' || ${encodeRow(duckdb, now)} || '}'`
  const sql = `
    WITH events AS MATERIALIZED (
      SELECT *, coalesce(${seen}, false) AS seen FROM (${rows.join(' UNION ALL ')}) WHERE ${ofKey}
    ),
    ends AS (
      SELECT ${names}, min(event) AS begun, max(event) AS ended FROM events GROUP BY ${names}
    ),
    judged AS (
      SELECT ends.*, o, n, begun % 2 = 0 AND o.seen AS was_seen, ended % 2 = 1 AND n.seen AS is_seen
      FROM ends
      JOIN (SELECT * RENAME (event AS begun) FROM events) AS o USING (${names}, begun)
      JOIN (SELECT * RENAME (event AS ended) FROM events) AS n USING (${names}, ended)
    ),
    page AS (
      SELECT * FROM judged
      WHERE was_seen <> is_seen
        OR (was_seen AND ${anyOf(differing)} AND ${isCounted})
      ORDER BY ${keyOrder(key)} LIMIT ${parameters.add(bindBigint(limit))}
    )
    SELECT encode(CASE
      WHEN NOT is_seen THEN '{"change":"removed","fields":[],"row":' ||
        ${encodeRow(duckdb, keyCells)} || '}'
      WHEN NOT was_seen THEN '{"change":"added","fields":[],"row":' ||
        ${encodeRow(duckdb, now)} || '}'
      ELSE ${changed} END), ${keyTexts(duckdb, key.map(asKey))}
    FROM page ORDER BY ${keyOrder(key)}`
  return { sql, values: parameters.values }
}

/** For each column, whether the two rows of a key differ in it; `prefix` as in `rowsOf`. */
function differences(columns: readonly Column[], prefix: string) {
  return columns.map((column, index) => {
    const [was, is] = ['o', 'n'].map((row) => comparable(column, `${row}.${prefix}s${index}`))
    return { column, sql: `${was} IS DISTINCT FROM ${is}` }
  })
}

function anyOf(conditions: readonly { readonly sql: string }[]): string {
  return `(${conditions.map(({ sql }) => sql).join(' OR ')})`
}

/** Changes with the columns of their predicates. */
interface JudgedChanges extends Changes {
  readonly judged: readonly Column[]
}

/** The rows of one set: their key, their place in time, and the cells that are looked at. */
function rowsOf(
  set: RowsOfSet,
  index: number,
  { version: { key }, columns, counted, judged }: JudgedChanges,
  range: Range,
  parameters: SqlParameters,
): string {
  const sqlOf = columnsOf(set)
  const cells = [
    ...columns.map((column, place) => `${sqlOf(column)} AS s${place}`),
    ...counted.map((column, place) => `${sqlOf(column)} AS fs${place}`),
    ...judged.map((column, place) => `${sqlOf(column)} AS p${place}`),
  ]
  const keys = key.map((column, place) => `${keySql(column, sqlOf)} AS k${place}`)
  return `SELECT ${keys.join(', ')}, ${2 * index} + side AS event, ${cells.join(', ')}
    ${fromWhere(set, key, range, parameters)}`
}

/**
 * Whether the caller would see a row of `rowsOf`, and whether its key can be one of the caller's:
 * all rows of a key have the same answer to the second. Values are bound once for all sets.
 */
function conditionsOf(
  { version: { key }, predicates, judged }: JudgedChanges,
  parameters: SqlParameters,
) {
  const sqlOf = ({ source }: Column) => `p${judged.findIndex((column) => column.source === source)}`
  const isOfKey = (each: Predicate) =>
    each.kind === 'nothing' || key.some(({ source }) => source === each.column.source)
  const all = (some: readonly Predicate[]) =>
    some.map((each) => condition(each, sqlOf, parameters)).join(' AND ') || 'true'
  return {
    ofKey: all(predicates.filter((each) => isOfKey(each))),
    seen: all(predicates.filter((each) => !isOfKey(each))),
  }
}

/** The columns of predicates, each once. */
function judgedBy(predicates: readonly Predicate[]): readonly Column[] {
  const columns = predicates.flatMap((each) => (each.kind === 'nothing' ? [] : [each.column]))
  return [...new Map(columns.map((column) => [column.source, column])).values()]
}

function fromWhere(
  set: RowsOfSet,
  key: readonly Column[],
  { after, upTo }: Range,
  parameters: SqlParameters,
): string {
  const sqlOf = columnsOf(set)
  const ofKey = (column: Column) => keySql(column, sqlOf)
  const paths = parameters.add(bindPaths([set.path]))
  const where = [
    ...(after ? [afterKey(key, after, ofKey, parameters)] : []),
    ...(upTo ? [`NOT (${afterKey(key, upTo, ofKey, parameters)})`] : []),
  ]
  return `FROM ${boundFilesSql(paths)} WHERE ${where.join(' AND ') || 'true'}`
}

/** The rows of a set; the source of a column is null where callers did not know it then. */
interface RowsOfSet extends Pick<ReadySet, 'path'> {
  readonly sources: readonly (string | null)[]
}

/** Without the columns that only a later set shows: before it they were hidden, or not there. */
function withoutUnseen({ path, sources }: ReadySet, later: readonly ReadySet[]): RowsOfSet {
  const added = new Set(later.flatMap(({ columns }) => columns.added.map(({ source }) => source)))
  return { path, sources: sources.map((source) => (added.has(source) ? null : source)) }
}

/** SQL of the columns in a set, in their types of today; null if it has no such column. */
function columnsOf({ sources }: RowsOfSet): (column: Column) => string {
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
