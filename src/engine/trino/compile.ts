import type { Column } from '../../columns/column.js'
import { parseFilterValue } from '../../columns/filter-value.js'
import type { Predicate } from '../../columns/predicate.js'
import type { RowFormat } from '../../query/page-format.js'
import type { KeyPosition, Question } from '../../query/question.js'
import type { Top } from '../../query/top.js'
import type { RemoteTable } from '../../versions/remote-table.js'
import type { Version } from '../../versions/version.js'
import { conditions, isFloat, presentValue } from './condition.js'
import { encodeCsvRow, encodeRow, servedText } from './encode.js'
import type { Cell } from './encode.js'
import { identifier } from './quote.js'
import { boundValue, joined, sql } from './sql.js'
import type { Sql } from './sql.js'

/** The table's name in SQL. */
export function tableSql({ catalog, schema, table }: RemoteTable): string {
  return [catalog, schema, table].map(identifier).join('.')
}

/** The table that a version is. @throws TypeError for a version of files */
export function tableOf({ table }: Version): RemoteTable {
  if (!table) throw new TypeError('a version of files has no table')
  return table
}

/** A column of the table in a condition. */
export function sourceOf({ source }: Column): string {
  return identifier(source)
}

/** The rows that meet the predicates, their columns named `c0`, `c1`, … */
export function rowsOf(
  version: Version,
  predicates: readonly Predicate[],
  columns: readonly Column[],
): Sql {
  const names = columns.map((column, index) => `${sourceOf(column)} AS c${index}`)
  const from = tableSql(tableOf(version))
  return sql`SELECT ${names.join(', ') || '1 AS c'} FROM ${from}
    WHERE ${conditions(predicates, sourceOf)}`
}

/** The number of rows that meet the predicates. */
export function compileCount(version: Version, predicates: readonly Predicate[]): Sql {
  const from = tableSql(tableOf(version))
  return sql`SELECT CAST(count(*) AS VARCHAR) FROM ${from}
    WHERE ${conditions(predicates, sourceOf)}`
}

/**
 * A page and one row more: each row's text, then the values of the key, by which rows are in order.
 */
export function compilePage(question: Question, after: KeyPosition | null): Sql {
  const { version, predicates, columns, limit, format } = question
  const rows = keyedRows(version, predicates, columns)
  const from = after === null ? sql`` : sql` AND ${afterKey(version.key, after)}`
  return sql`WITH page AS (${rows}${from}
      ORDER BY ${keyOrder(version.key)} LIMIT ${String(limit + 1)})
    SELECT ${rowText(columns, format)}, ${keyTexts(version.key)} FROM page
    ORDER BY ${keyOrder(version.key)}`
}

/** The first rows by one column and one row more, like a page. */
export function compileTop(top: Top): Sql {
  const { version, predicates, columns, by, isDescending, limit, format } = top
  const rows = keyedRows(version, predicates, [...columns, by])
  const rank = comparableValue(by, `c${columns.length}`)
  const order = `${rank} ${isDescending ? 'DESC' : 'ASC'}, ${keyOrder(version.key)}`
  return sql`WITH found AS (${rows}),
    page AS (SELECT * FROM found ORDER BY ${order} LIMIT ${String(limit + 1)})
    SELECT ${rowText(columns, format)}, ${keyTexts(version.key)} FROM page ORDER BY ${order}`
}

/** The rows that meet the predicates, with the key's columns as `k0`, `k1`, … */
function keyedRows(
  version: Version,
  predicates: readonly Predicate[],
  columns: readonly Column[],
): Sql {
  const names = [
    ...columns.map((column, index) => `${sourceOf(column)} AS c${index}`),
    ...version.key.map((column, index) => `${sourceOf(column)} AS k${index}`),
  ]
  const from = tableSql(tableOf(version))
  return sql`SELECT ${names.join(', ')} FROM ${from} WHERE ${conditions(predicates, sourceOf)}`
}

/** SQL of a value in the form that filters compare, 0 for -0; NULL if null is served. */
export function comparableValue(column: Column, value: string): string {
  const { domain } = column.rules
  if (domain.kind === 'text' && domain.form === 'rendered') return servedText(column.type, value)
  const present = presentValue(column, value)
  return isFloat(column) ? `(${present} + 0)` : present
}

function rowText(columns: readonly Column[], format: RowFormat | undefined): string {
  const cells = columns.map((column, index): Cell => ({ column, sql: `c${index}` }))
  return format === 'csv' ? encodeCsvRow(cells) : encodeRow(cells)
}

/** The key as filters write it; a text of many values of one row. */
function keyTexts(key: readonly Column[]): string {
  return key
    .map(({ type }, index) => `CAST(${servedText(type, `k${index}`)} AS VARCHAR)`)
    .join(', ')
}

function keyOrder(key: readonly Column[]): string {
  return key.map((_, index) => `k${index} ASC NULLS LAST`).join(', ')
}

/** True for the rows after a position; empty values come last. */
function afterKey(key: readonly Column[], { key: texts }: KeyPosition): Sql {
  const places = key.map((column, index) => ({ column, text: texts[index] ?? null }))
  const choices = places.flatMap(({ column, text }, index) => {
    if (text === null) return []
    const same = places.slice(0, index).map((place) => sameSql(place.column, place.text))
    return [sql`(${joined([...same, laterSql(column, text, '>')], ' AND ')})`]
  })
  const [first] = places
  // On one column alone, so that files are chosen by it.
  const bound = first?.text == null ? [] : [laterSql(first.column, first.text, '>=')]
  if (choices.length === 0) return sql`false`
  return joined([...bound, sql`(${joined(choices, ' OR ')})`], ' AND ')
}

function sameSql(column: Column, text: string | null): Sql {
  if (text === null) return sql`${sourceOf(column)} IS NULL`
  return sql`${sourceOf(column)} = ${keyValue(column, text)}`
}

function laterSql(column: Column, text: string, sign: '>' | '>='): Sql {
  const name = sourceOf(column)
  return sql`(${name} ${sign} ${keyValue(column, text)} OR ${name} IS NULL)`
}

/** A value that a position holds, bound. */
function keyValue(column: Column, text: string): Sql {
  const parsed = parseFilterValue(column, text)
  if (parsed.kind !== 'exact') throw new TypeError('a position has a value that its column lacks')
  return boundValue(column, parsed.value)
}
