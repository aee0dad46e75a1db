import { textsOf } from '../../src/row-texts.js'
import { Fault } from '../harness/fault.js'
import { sendWell } from '../harness/http.js'
import type { Target } from '../harness/http.js'
import type { ModelColumn, Table } from './table.js'

/**
 * Compares an export with the whole model, and takes from it how numbers and escapes are
 * written: every later answer must have the same texts.
 * @throws Fault naming the first cell that differs
 */
export async function learnTable(target: Target, table: Table): Promise<Table> {
  const path = `/v1/${table.dataset}/export`
  const { text } = await sendWell(target, { method: 'GET', path, body: '' })
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('{"cursor":'))
  if (lines.length !== table.rows) throw new Fault(`${lines.length} rows in ${path}`)
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
