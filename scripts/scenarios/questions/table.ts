import { plainColumn } from '../../../src/columns/column.js'
import type { Column } from '../../../src/columns/column.js'
import type { Value } from '../../../src/columns/filter-value.js'
import { dataTypeOf } from '../../../src/engine/duckdb/open/parquet-columns.js'
import { textsOf } from '../../../src/row-texts.js'
import { isExactNumber } from '../../../test/support/query-results.js'
import type { DuckDb } from '../../harness/duckdb.js'
import { demand, Fault } from '../../harness/fault.js'
import { sendWell } from '../../harness/http.js'
import type { Target } from '../../harness/http.js'
import { cellOf } from './cell-text.js'
import type { Cell } from './cell-text.js'

/** A column of the model with its cells in stored order. */
export interface ModelColumn {
  readonly name: string
  readonly column: Column
  readonly cells: readonly Cell[]
}

/** A dataset in memory. */
export interface Table {
  readonly dataset: string
  readonly columns: readonly ModelColumn[]
  readonly rows: number
}

/** The JSON text of a cell. */
export function cellText({ cells }: ModelColumn, row: number): string {
  return cells[row]?.json ?? 'null'
}

/** The value of a cell. */
export function cellValue({ cells }: ModelColumn, row: number): Value | null {
  return cells[row]?.value ?? null
}

/** Reads Parquet files whole, one after another, without the product's help, as the model. */
export async function readTable(
  { connection }: DuckDb,
  dataset: string,
  paths: readonly string[],
  order = '',
): Promise<Table> {
  const list = paths.map((path) => `'${path}'`).join()
  const from = `read_parquet([${list}], union_by_name = true)`
  const result = await connection.runAndReadAll(`SELECT * FROM ${from} ${order}`)
  const cells = result.getColumns()
  const columns = result.columnNames().map((name, index) => {
    const column = plainColumn(name, dataTypeOf(result.columnType(index)))
    return { name, column, cells: (cells[index] ?? []).map((value) => cellOf(column, value)) }
  })
  return { dataset, columns, rows: result.currentRowCount }
}

/**
 * Compares an export with the whole model, and takes from it how numbers and escapes are
 * written: every later answer must have the same texts.
 * @throws Fault naming the first cell that differs
 */
export async function learnTable(target: Target, table: Table): Promise<Table> {
  const path = `/v1/${table.dataset}/export`
  const { text } = await sendWell(target, { method: 'GET', path, body: '' })
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('{"cursor":'))
  demand(lines.length === table.rows, `${lines.length} rows in ${path}`)
  const rows = lines.map((line) => textsOf(line).cells)
  const columns = table.columns.map((column, place): ModelColumn => ({
    ...column,
    cells: column.cells.map(({ value, json }, row) => {
      const served = rows[row]?.[place] ?? '?'
      const isRight =
        json === null ? isSame(served, Number(value), column) : isSameText(served, json)
      if (isRight) return { value, json: served }
      throw new Fault(`${path}, row ${row}, ${column.name}: ${served} instead of ${json ?? value}`)
    }),
  }))
  return { ...table, columns }
}

/** Letters of a JSON string may be escaped in several ways. */
function isSameText(served: string, json: string): boolean {
  if (served === json) return true
  return served.startsWith('"') && json.startsWith('"') && JSON.parse(served) === JSON.parse(json)
}

function isSame(served: string, value: number, { column }: ModelColumn): boolean {
  const isSingle = column.type.kind === 'scalar' && column.type.name === 'FLOAT'
  const read = Number(served)
  return (isSingle ? Math.fround(read) : read) === value
}

/** Rows as an answer must have them, byte by byte. */
export interface ExpectedRows {
  readonly columns: readonly ModelColumn[]
  readonly rows: readonly number[]
}

/** One row as JSON. */
function objectText(columns: readonly ModelColumn[], row: number): string {
  const cells = columns.map((column) => `${JSON.stringify(column.name)}:${cellText(column, row)}`)
  return `{${cells.join()}}`
}

/** The rows of `{"data": […]}`, each ending in nothing else than the list's comma. */
export function jsonRows({ columns, rows }: ExpectedRows): string {
  return rows.map((row) => objectText(columns, row)).join()
}

/** Each row on a line. */
export function ndjsonRows({ columns, rows }: ExpectedRows): string {
  return rows.map((row) => `${objectText(columns, row)}\n`).join('')
}

/** RFC 4180 with the line of names; null is an empty cell, or `""` alone in its line. */
export function csvRows({ columns, rows }: ExpectedRows): string {
  const isAlone = columns.length === 1
  const lines = [
    columns.map(({ name }) => quotedCell(name)),
    ...rows.map((row) => columns.map((column) => csvCell(column, cellText(column, row), isAlone))),
  ]
  return lines.map((cells) => `${cells.join()}\r\n`).join('')
}

function csvCell({ column }: ModelColumn, json: string, isAlone: boolean): string {
  if (json === 'null') return isAlone ? '""' : ''
  if (column.rules.shown === 'json') return `"${json.replaceAll('"', '""')}"`
  return json.startsWith('"') ? quotedCell(JSON.parse(json) as string) : json
}

/** Texts with separators, quotes, line ends or space around them have quotes. */
function quotedCell(text: string): string {
  const needsQuotes = /^$|[",\r\n]|^[\t\n\f\r ]|[\t\n\f\r ]$/.test(text)
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text
}

/** The columns of a tool's answer, numbers that JSON readers round as strings. */
export function toolColumns({ columns, rows }: ExpectedRows): readonly (readonly string[])[] {
  return columns.map((column) => rows.map((row) => toolCell(cellText(column, row))))
}

function toolCell(json: string): string {
  return /^-?\d/.test(json) && !isExactNumber(json) ? `"${json}"` : json
}
