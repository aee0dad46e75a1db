import { hasCodes } from '../../../columns/column.js'
import type { Column } from '../../../columns/column.js'
import type { Predicate } from '../../../columns/predicate.js'
import type { ColumnProfile, Profile, ProfileQuestion } from '../../engine.js'
import { isListed, isOrdered, scaleOf } from '../../profiled-column.js'
import type { Choice } from '../choice.js'
import { encodeCell } from '../encode/encode.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { compileRows } from './compile.js'
import { SqlParameters, presentValue } from './condition.js'
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

/** What the first statement returns of a column. */
type Totals = Pick<ColumnProfile, 'emptyRows' | 'min' | 'max'>

/** What the second statement returns of a column. */
type Counts = Partial<Pick<ColumnProfile, 'values' | 'valueRows' | 'histogram'>>

/** A column and the expressions that count its rows. */
interface CountedCell {
  readonly cell: ProfiledCell
  readonly sql: readonly string[]
  readonly read: (found: readonly unknown[]) => Counts
}

/** Columns of one statement: it is planned in a few milliseconds. */
const columnsMax = 48

/**
 * Profiles columns, some at a time, with two statements. The first returns counts, minimum, maximum
 * and an estimate of the distinct values. The second counts the rows of each value of columns that
 * seem to have few, which bounds memory, and of each bin of a histogram.
 */
export async function profileColumns(
  question: Pick<
    ProfileQuestion,
    'columns' | 'valuesMax' | 'codesMax' | 'rowsMax' | 'withHistograms'
  >,
  choice: Choice,
  run: RunStatement,
): Promise<Profile> {
  const { columns } = question
  const slices: Profile[] = []
  for (let from = 0; from === 0 || from < columns.length; from += columnsMax) {
    const slice = { ...question, columns: columns.slice(from, from + columnsMax) }
    slices.push(await profileSlice(slice, choice, run))
  }
  const [first] = slices
  return { rows: first?.rows ?? 0, columns: slices.flatMap((slice) => slice.columns) }
}

async function profileSlice(
  question: Parameters<typeof profileColumns>[0],
  choice: Choice,
  run: RunStatement,
): Promise<Profile> {
  const { columns, valuesMax, codesMax = valuesMax, rowsMax, withHistograms = false } = question
  const cells = columns.map((column, index): ProfiledCell => {
    const name = `c${index}`
    return { column, name, value: presentValue(column, name) }
  })
  const pieces = rowsMax === null ? planCount(choice) : planSample(choice, rowsMax)
  const from = { predicates: choice.predicates, pieces }
  const [[rows] = [], ...found] = await run(compileAggregates(from, cells))
  const profiled = cells.map((cell, index) => {
    const facts = found.slice(index * aggregatesPerColumn, (index + 1) * aggregatesPerColumn)
    const [emptyRows, min, max, estimate] = facts.map(([value]) => value)
    const totals = { emptyRows: Number(emptyRows), min: textOrNull(min), max: textOrNull(max) }
    const listMax = hasCodes(cell.column) ? codesMax : valuesMax
    const isFew = Number(estimate ?? Infinity) <= listMax * estimateSlack
    const values = isFew ? countedValues(cell, listMax) : null
    const bins = withHistograms ? countedBins(cell, totals) : null
    return { totals, counted: [values, bins].filter((each) => each !== null) }
  })
  const counted = profiled.flatMap((each) => each.counted)
  const counts = await runCounts(from, counted, run)
  return {
    rows: Number(rows),
    columns: profiled.map(({ totals, counted: asked }) => ({
      ...{ ...totals, values: null, valueRows: null, histogram: null },
      ...Object.assign({}, ...asked.map((each) => counts.get(each))),
    })),
  }
}

async function runCounts(
  from: ProfiledPieces,
  counted: readonly CountedCell[],
  run: RunStatement,
): Promise<ReadonlyMap<CountedCell, Counts>> {
  if (counted.length === 0) return new Map()
  const cells = [...new Set(counted.map(({ cell }) => cell))]
  const found = await run(
    compileOver(
      from,
      cells,
      counted.flatMap(({ sql }) => sql),
    ),
  )
  let next = 0
  return new Map(
    counted.map((each) => {
      const values = found.slice(next, next + each.sql.length).map(([value]) => value)
      next += each.sql.length
      return [each, each.read(values)]
    }),
  )
}

/** Every value with its rows; no list if there are more than `listMax`. */
function countedValues(cell: ProfiledCell, listMax: number): CountedCell {
  const entries = `list_sort(map_entries(histogram(${cell.value})))`
  const text = encodeCell(cell.column, 'e.key')
  return {
    cell,
    sql: [
      `to_json(list_transform(${entries}, lambda e: ${text}))`,
      `to_json(list_transform(${entries}, lambda e: e.value))`,
    ],
    read: ([texts, rows]) => {
      const values = listOf<string>(texts)
      return values.length > listMax ? {} : { values, valueRows: listOf<number>(rows) }
    },
  }
}

/** Null for a column without a range. */
function countedBins(cell: ProfiledCell, totals: Totals): CountedCell | null {
  const scale = scaleOf(cell.column, totals)
  if (!scale) return null
  const { edges, textOf } = scale
  const size = sizeSql(cell.column, cell.value)
  const uppers = edges.slice(1)
  // A number may be read a little larger than the maximum that the column's type writes.
  const bins = uppers.map((edge, at) => (at === uppers.length - 1 ? `'inf'` : `'${edge}'`))
  return {
    cell,
    sql: [`to_json(map_values(histogram(${size}, [${bins.join()}]::DOUBLE[])))`],
    read: ([rows]) => ({
      histogram: { edges: edges.map(textOf), rows: listOf<number>(rows) },
    }),
  }
}

/** SQL of a value as a number on the scale. */
function sizeSql({ rules: { shown } }: Column, value: string): string {
  const isMoment = shown === 'date' || shown === 'timestamp'
  return `CAST(${isMoment ? `epoch_ms(${value})` : value} AS DOUBLE)`
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

/** One row of aggregates over all pieces. */
function compileOver(
  { predicates, pieces }: ProfiledPieces,
  cells: readonly ProfiledCell[],
  aggregates: readonly string[],
): Statement {
  const parameters = new SqlParameters()
  const columns = cells.map(({ column, name }) => [name, column] as const)
  const rows = compileRows(pieces, predicates, columns, parameters)
  const sql = `SELECT ${aggregates.join(', ')} FROM (${rows})`
  return Object.freeze({ sql, values: parameters.values })
}

/** A JSON array; empty if no row has a value. */
function listOf<Item>(json: unknown): readonly Item[] {
  return json === null || json === undefined ? [] : (JSON.parse(String(json)) as Item[])
}
