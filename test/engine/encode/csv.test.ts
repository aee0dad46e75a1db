import { parse } from 'csv-parse/sync'
import t from 'tap'
import { encodeCsv } from '../fixtures/all-types.js'

// Guarantee: a cell of CSV is what JSON serves, for every type, and a reader finds all of them.

const read = (lines: readonly string[]): readonly (readonly string[])[] =>
  parse(lines.join('\r\n'), { relax_column_count: false })

/** The value of `{"name":value}` as CSV has it: texts without quotes, null as nothing. */
function cellOf(json: string): string {
  const value = json.slice(json.indexOf(':', json.indexOf('"', 2)) + 1, -1).trim()
  if (value === 'null') return ''
  return value.startsWith('"') ? String(JSON.parse(value)) : value
}

await t.test('every type as JSON has it', async (t) => {
  const { cells, lines } = await encodeCsv()
  t.ok(cells.length > 50)
  for (const { name, json, csv } of cells) {
    t.strictSame(read(csv).flat(), json.map(cellOf), name)
  }
  const rows = read(lines)
  t.equal(rows.length, 3)
  const columns = cells.map(({ csv }) => read(csv).flat())
  for (const [index, row] of rows.entries()) {
    t.strictSame(
      row,
      columns.map((column) => column[index]),
    )
  }
})
