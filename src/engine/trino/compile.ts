import type { Column } from '../../columns/column.js'
import type { Predicate } from '../../columns/predicate.js'
import type { RowFormat } from '../../query/page-format.js'
import type { KeyPosition, Question } from '../../query/question.js'
import type { Top } from '../../query/top.js'
import type { RemoteTable } from '../../versions/remote-table.js'
import type { Version } from '../../versions/version.js'
import { condition } from '../sql/condition.js'
import type { Cell, NamedColumn, Parameters } from '../sql/dialect.js'
import { encodeCsvRow } from '../sql/encode-csv.js'
import { encodeRow, textOf } from '../sql/encode.js'
import { afterKey, keyOrder, keyTexts } from '../sql/key-order.js'
import { identifier } from '../sql/quote.js'
import { comparableValue } from '../sql/values.js'
import { trino } from './dialect.js'
import { statement } from './statement.js'
import type { Statement } from './statement.js'

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

/** The rows that meet the predicates, with these columns. */
export function rowsOf(
  version: Version,
  predicates: readonly Predicate[],
  columns: readonly NamedColumn[],
  parameters: Parameters,
): string {
  const names = columns.map(([name, column]) => `${sourceOf(column)} AS ${name}`)
  return selectRows(version, predicates, names.join(', ') || '1 AS c', parameters)
}

/** The number of rows that meet the predicates. */
export function compileCount(version: Version, predicates: readonly Predicate[]): Statement {
  return statement((parameters) => selectRows(version, predicates, textOf('count(*)'), parameters))
}

/**
 * A page and one row more: each row's text, then the values of the key, by which rows are in order.
 */
export function compilePage(question: Question, after: KeyPosition | null): Statement {
  const { version, predicates, columns, limit, format } = question
  return statement((parameters) => {
    const rows = keyedRows(version, predicates, columns, parameters)
    const from = after === null ? '' : ` AND ${afterKey(version.key, after, sourceOf, parameters)}`
    return `WITH page AS (${rows}${from}
      ORDER BY ${keyOrder(version.key)} LIMIT ${limit + 1})
    SELECT ${rowText(columns, format)}, ${keyTexts(trino, version.key)} FROM page
    ORDER BY ${keyOrder(version.key)}`
  })
}

/** The first rows by one column and one row more, like a page. */
export function compileTop(top: Top): Statement {
  const { version, predicates, columns, by, isDescending, limit, format } = top
  const rank = comparableValue(trino, by, `c${columns.length}`)
  const order = `${rank} ${isDescending ? 'DESC' : 'ASC'}, ${keyOrder(version.key)}`
  return statement((parameters) => {
    const rows = keyedRows(version, predicates, [...columns, by], parameters)
    return `WITH found AS (${rows}),
    page AS (SELECT * FROM found ORDER BY ${order} LIMIT ${limit + 1})
    SELECT ${rowText(columns, format)}, ${keyTexts(trino, version.key)} FROM page ORDER BY ${order}`
  })
}

/** The rows that meet the predicates, with their columns as `c0`, … and the key's as `k0`, … */
function keyedRows(
  version: Version,
  predicates: readonly Predicate[],
  columns: readonly Column[],
  parameters: Parameters,
): string {
  const named = [
    ...columns.map((column, index): NamedColumn => [`c${index}`, column]),
    ...version.key.map((column, index): NamedColumn => [`k${index}`, column]),
  ]
  return rowsOf(version, predicates, named, parameters)
}

function selectRows(
  version: Version,
  predicates: readonly Predicate[],
  list: string,
  parameters: Parameters,
): string {
  const all = predicates.map((each) => condition(each, sourceOf, parameters))
  return `SELECT ${list} FROM ${tableSql(tableOf(version))}
    WHERE ${all.join(' AND ') || 'true'}`
}

function rowText(columns: readonly Column[], format: RowFormat | undefined): string {
  const cells = columns.map((column, index): Cell => ({ column, sql: `c${index}` }))
  return format === 'csv' ? encodeCsvRow(trino, cells) : encodeRow(trino, cells)
}
