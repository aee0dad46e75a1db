import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import type { Predicate } from '../../../columns/predicate.js'
import type { ColumnProfile, Profile, ProfileQuestion } from '../../engine.js'
import type { Choice } from '../choice.js'
import { encodeCell } from '../encode/encode.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { compileRows } from './compile.js'
import { SqlParameters, condition } from './condition.js'
import { planCount, planSample } from './pieces.js'
import type { Scan } from './pieces.js'

/** A column of the question and its name in our statements. */
interface ProfiledCell {
  readonly column: Column
  readonly name: string
  /** SQL for the value; NULL if null is served. */
  readonly value: string
}

/** The rows of a question, which both of its statements read. */
interface ProfiledPieces {
  readonly predicates: readonly Predicate[]
  readonly pieces: readonly Scan[]
}

/** An estimate may be a few percent too high for a column just within the limit. */
const estimateSlack = 1.2
const aggregatesPerColumn = 4

/**
 * Profiles columns with two statements. The first returns counts, minimum, maximum and an estimate
 * of the distinct values. The second lists the values of columns that seem to have few, which
 * bounds memory.
 */
export async function profileColumns(
  question: Pick<ProfileQuestion, 'columns' | 'valuesMax' | 'rowsMax'>,
  choice: Choice,
  run: RunStatement,
): Promise<Profile> {
  const { columns, valuesMax, rowsMax } = question
  const cells = columns.map((column, index): ProfiledCell => {
    const name = `c${index}`
    const isEmpty = condition({ kind: 'is_null', column }, () => name, new SqlParameters())
    const value =
      isEmpty === `${name} IS NULL` ? name : `CASE WHEN NOT (${isEmpty}) THEN ${name} END`
    return { column, name, value }
  })
  const pieces = rowsMax === null ? planCount(choice) : planSample(choice, rowsMax)
  const from = { predicates: choice.predicates, pieces }
  const [[rows] = [], ...found] = await run(compileAggregates(from, cells))
  const estimates = cells.map((_, index) =>
    Number(found[index * aggregatesPerColumn + 3]?.[0] ?? Infinity),
  )
  const few = cells.filter((_, index) => (estimates[index] ?? 0) <= valuesMax * estimateSlack)
  const lists = few.length === 0 ? [] : await run(compileValues(from, few))
  const valuesOf = new Map(few.map(({ name }, index) => [name, textsOf(lists[index]?.[0])]))
  return {
    rows: Number(rows),
    columns: cells.map(({ name }, index): ColumnProfile => {
      const [emptyRows, min, max] = found.slice(index * aggregatesPerColumn).map(([value]) => value)
      const values = valuesOf.get(name) ?? null
      return {
        emptyRows: Number(emptyRows),
        min: textOrNull(min),
        max: textOrNull(max),
        values: values && values.length <= valuesMax ? values : null,
      }
    }),
  }
}

/** Avoids FILTER, with which DuckDB copies every column of a chunk for every aggregate. */
function compileAggregates(from: ProfiledPieces, cells: readonly ProfiledCell[]): Statement {
  const aggregates = cells.flatMap(({ column, value }) => [
    `count(*) - count(${value})`,
    isOrdered(column) ? encodeCell(column, `min(${value})`) : 'NULL',
    isOrdered(column) ? encodeCell(column, `max(${value})`) : 'NULL',
    isListed(column) ? `approx_count_distinct(${value})` : 'NULL',
  ])
  return compileOver(from, cells, ['count(*)', ...aggregates])
}

function compileValues(from: ProfiledPieces, cells: readonly ProfiledCell[]): Statement {
  const lists = cells.map(({ column, value }) => {
    const values = `list_filter(list_sort(list(DISTINCT ${value})), lambda v: v IS NOT NULL)`
    return `to_json(list_transform(${values}, lambda v: ${encodeCell(column, 'v')}))`
  })
  return compileOver(from, cells, lists)
}

/** One row of aggregates over all pieces. */
function compileOver(
  { predicates, pieces }: ProfiledPieces,
  cells: readonly ProfiledCell[],
  aggregates: readonly string[],
): Statement {
  const parameters = new SqlParameters()
  const columns = cells.map(({ column, name }) => [name, column] as const)
  const rows = pieces.map((piece) => compileRows(piece, predicates, columns, parameters))
  const nulls = columns.map(([name, { type }]) => `CAST(NULL AS ${typeText(type)}) AS ${name}`)
  const nothing = `SELECT ${nulls.join(', ')} WHERE false`
  const from = rows.length === 0 ? nothing : rows.join(' UNION ALL ')
  const sql = `SELECT ${aggregates.join(', ')} FROM (${from})`
  return Object.freeze({ sql, values: parameters.values })
}

const orderedTypes: readonly string[] = ['integer', 'number', 'date', 'timestamp', 'time']
/** Types of codes and classes; amounts and times rarely repeat. */
const listedTypes: readonly string[] = ['string', 'integer', 'boolean', 'date']

function isOrdered({ rules }: Column): boolean {
  return orderedTypes.includes(rules.shown)
}

function isListed({ rules }: Column): boolean {
  return listedTypes.includes(rules.shown)
}

/** A JSON array of JSON texts; empty if no row has a value. */
function textsOf(list: unknown): readonly string[] {
  return list === null || list === undefined ? [] : (JSON.parse(String(list)) as string[])
}
