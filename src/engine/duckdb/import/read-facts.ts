import { quoted } from '../../../text.js'
import type { CellKind } from '../../../versions/tables/cell-kinds.js'
import type { ColumnFacts, KindFacts, StatedType } from '../../../versions/tables/column-types.js'
import { BadLines, shownText } from '../../../versions/tables/table.js'
import type { TableOrder } from '../../../versions/tables/table.js'
import type { RunStatement } from '../run-statement.js'
import { digitsSql, fitsSql, isExactSql, kindSql, numberSql } from './column-sql.js'

/** Columns whose values one statement counts. */
const columnsAtOnce = 400
/** As many as `BadLines` shows. */
const misfitsMax = 20

/**
 * Counts the values of every column by their kind, in the view `texts`.
 * @throws TableError with the values that do not fit a stated type
 */
export async function readFacts(
  names: readonly string[],
  stated: ReadonlyMap<string, StatedType>,
  order: TableOrder,
  run: RunStatement,
): Promise<readonly ColumnFacts[]> {
  const facts: ColumnFacts[] = []
  for (let from = 0; from < names.length; from += columnsAtOnce) {
    const columns = names.slice(from, from + columnsAtOnce).map((_, index) => `c${from + index}`)
    const found = await run({ sql: kindsSql(columns) })
    facts.push(...columns.map((column) => factsOf(column, found)))
  }
  const bad = new BadLines(order)
  for (const [name, type] of stated) {
    const index = names.indexOf(name)
    const digits = await checkStated(`c${index}`, name, type, bad, run)
    facts[index] = { kinds: new Map(), isExactDouble: false, ...facts[index], ...digits }
  }
  bad.requireNone()
  return facts
}

function kindsSql(columns: readonly string[]): string {
  const [whole, scale] = digitsSql('text')
  const names = columns.join(', ')
  const isExact = `kind NOT IN ('decimal', 'comma', 'float') OR ${isExactSql('text')}`
  return `SELECT name, kind, count(*), min(line), left(arg_min(value, line), 100),
      max(${whole}) FILTER (kind <> 'text'), max(${scale}) FILTER (kind <> 'text'), bool_and(${isExact})
    FROM (SELECT *, ${kindSql('text')} AS kind FROM (SELECT *, trim(value) AS text
      FROM (UNPIVOT (SELECT line, ${names} FROM texts) ON ${names} INTO NAME name VALUE value)))
    GROUP BY name, kind`
}

function factsOf(column: string, [names = [], ...found]: readonly (readonly unknown[])[]) {
  const kinds = new Map<CellKind, KindFacts>()
  let [whole, scale, isExactDouble] = [0, 0, true]
  for (const [at, name] of names.entries()) {
    if (name !== column) continue
    const [kind, count, line, cell, wholeMax, scaleMax, isExact] = found.map((values) => values[at])
    kinds.set(kind as CellKind, { count: Number(count), line: Number(line), cell: String(cell) })
    whole = Math.max(whole, Number(wholeMax))
    scale = Math.max(scale, Number(scaleMax))
    isExactDouble &&= isExact === true
  }
  return { kinds, whole, scale, isExactDouble }
}

async function checkStated(
  column: string,
  name: string,
  type: StatedType,
  bad: BadLines,
  run: RunStatement,
) {
  const text = `trim(${column})`
  const misfit = `${column} IS NOT NULL AND NOT ${fitsSql(text, type)}`
  const [whole, scale] = digitsSql(numberSql(text))
  const counted = await run({
    sql: `SELECT max(${whole}), max(${scale}), count(*) FILTER (${misfit}) FROM texts`,
  })
  const [wholeMax, scaleMax, misfits = 0] = counted.map(([value]) => Number(value))
  const [lines = [], cells = []] = await run({
    sql: `SELECT line, left(${column}, 100) FROM texts WHERE ${misfit} LIMIT ${misfitsMax}`,
  })
  for (const [at, line] of lines.entries()) {
    const count = at + 1 < lines.length ? 1 : misfits - at
    const problem = `${quoted(name)} is not ${type.replace(/\(.*/, '')}: ${shownText(String(cells[at]))}`
    bad.add(Number(line), problem, count)
  }
  return { whole: wholeMax ?? 0, scale: scaleMax ?? 0 }
}
