import { quoted } from '../../../text.js'
import type { CellKind } from '../../../versions/tables/cell-kinds.js'
import type { ColumnFacts, StatedType } from '../../../versions/tables/column-types.js'
import { badLines, badLinesMax, shownText } from '../../../versions/tables/table.js'
import type { TableOrder, TableRow } from '../../../versions/tables/table.js'
import type { RunStatement } from '../run-statement.js'
import { digitsSql, fitsSql, isExactSql, kindSql } from './column-sql.js'

/** Columns whose values one statement counts. */
const columnsAtOnce = 400

/** Counts the values of every column by their kind, in the view `texts`. */
export async function readFacts(count: number, run: RunStatement): Promise<readonly ColumnFacts[]> {
  const facts: ColumnFacts[] = []
  for (let from = 0; from < count; from += columnsAtOnce) {
    const size = Math.min(columnsAtOnce, count - from)
    const columns = Array.from({ length: size }, (_, index) => `c${from + index}`)
    const found = await run({ sql: kindsSql(columns.join(', ')) })
    facts.push(...columns.map((column) => factsOf(column, found)))
  }
  return facts
}

function kindsSql(columns: string): string {
  const [whole, scale] = digitsSql('text')
  const isNumber = "kind NOT IN ('text', 'date', 'instant', 'day', 'dot', 'boolean')"
  const isExact = `kind NOT IN ('decimal', 'comma', 'float') OR ${isExactSql('text')}`
  return `SELECT name, kind, count(*), min(line), left(arg_min(value, line), 100),
      max(${whole}) FILTER (${isNumber}), max(${scale}) FILTER (${isNumber}),
      bool_and(${isExact}), max(length(text)) > 10
    FROM (SELECT *, ${kindSql('text')} AS kind FROM (SELECT *, trim(value) AS text
      FROM (UNPIVOT (SELECT line, ${columns} FROM texts) ON ${columns} INTO NAME name VALUE value)))
    GROUP BY name, kind`
}

function factsOf(column: string, [names = [], ...found]: readonly (readonly unknown[])[]) {
  const kinds = new Map<CellKind, { count: number; line: number; cell: string }>()
  let [whole, scale, isExactDouble, hasTime] = [0, 0, true, false]
  for (const [at, name] of names.entries()) {
    if (name !== column) continue
    const [kind, count, line, cell, ...rest] = found.map((values) => values[at])
    kinds.set(kind as CellKind, { count: Number(count), line: Number(line), cell: String(cell) })
    whole = Math.max(whole, Number(rest[0]))
    scale = Math.max(scale, Number(rest[1]))
    isExactDouble &&= rest[2] === true
    hasTime ||= rest[3] === true
  }
  return { kinds, whole, scale, isExactDouble, hasTime }
}

/** @throws TableError with the first values that do not fit their stated type */
export async function requireFits(
  names: readonly string[],
  stated: ReadonlyMap<string, StatedType>,
  order: TableOrder,
  run: RunStatement,
): Promise<void> {
  const bad: Pick<TableRow, 'line' | 'problem'>[] = []
  let badCount = 0
  for (const [name, type] of stated) {
    const column = `c${names.indexOf(name)}`
    const [lines = [], cells = [], counts = [0]] = await run({
      sql: `SELECT line, left(${column}, 100), count(*) OVER () FROM texts
        WHERE NOT ${fitsSql(`trim(${column})`, type)} ORDER BY line LIMIT ${badLinesMax}`,
    })
    badCount += Number(counts[0] ?? 0)
    for (const [at, line] of lines.entries()) {
      const problem = `${quoted(name)} is not ${type.replace(/\(.*/, '')}: ${shownText(String(cells[at]))}`
      bad.push({ line: Number(line), problem })
    }
  }
  bad.sort((left, right) => left.line - right.line)
  if (badCount > 0) throw badLines(order, bad.slice(0, badLinesMax), badCount)
}
