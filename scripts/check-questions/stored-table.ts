import { plainColumn } from '../../src/columns/column.js'
import { dataTypeOf } from '../../src/engine/duckdb/open/parquet-columns.js'
import type { DuckDb } from '../harness/duckdb.js'
import { cellOf } from './cell-text.js'
import type { Table } from './table.js'

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
