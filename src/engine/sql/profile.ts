import { hasCodes } from '../../columns/column.js'
import type { Column } from '../../columns/column.js'
import type { ColumnProfile, Profile, ProfileQuestion } from '../engine.js'
import { presentValue } from './condition.js'
import type { Dialect, NamedColumn } from './dialect.js'
import { encodeCell, servedText } from './encode.js'
import { isListed, isOrdered, scaleOf } from './profiled-column.js'
import { isRendered } from './values.js'

/** Which columns to profile, and in how much detail. */
type ProfiledColumns = Pick<
  ProfileQuestion,
  'columns' | 'valuesMax' | 'codesMax' | 'withHistograms'
>

/** Computes aggregates over the rows of a question, in which columns have names. */
export type RunAggregates = (
  columns: readonly NamedColumn[],
  aggregates: readonly string[],
) => Promise<readonly (string | null)[]>

/** A column of the question and its name in our statements. */
interface ProfiledCell {
  readonly named: NamedColumn
  /** The column of the values in a list. */
  readonly column: Column
  /** SQL for the value; NULL if null is served. */
  readonly value: string
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
  readonly read: (found: readonly (string | null)[]) => Counts
}

/**
 * Profiles columns with two statements. The first returns counts, minimum, maximum and an estimate
 * of the distinct values. The second counts the rows of each value of columns that seem to have
 * few, which bounds memory, and of each bin of a histogram.
 */
export async function profileColumns(
  dialect: Dialect,
  question: ProfiledColumns,
  run: RunAggregates,
): Promise<Profile> {
  const { columns, valuesMax, codesMax = valuesMax, withHistograms = false } = question
  const cells = columns.map((column, index) => profiledCell(dialect, column, `c${index}`))
  const [rows, ...found] = await run(
    cells.map(({ named }) => named),
    ['count(*)', ...cells.flatMap((cell) => totalsSql(dialect, cell))],
  )
  const profiled = cells.map((cell, index) => {
    const facts = found.slice(index * aggregatesPerColumn, (index + 1) * aggregatesPerColumn)
    const [emptyRows, min = null, max = null, estimate] = facts
    const totals = { emptyRows: Number(emptyRows), min, max }
    const listMax = hasCodes(cell.column) ? codesMax : valuesMax
    const isFew = Number(estimate ?? Infinity) <= listMax * estimateSlack
    const values = isFew ? countedValues(dialect, cell, listMax) : null
    const bins = withHistograms ? countedBins(dialect, cell, totals) : null
    return { totals, counted: [values, bins].filter((each) => each !== null) }
  })
  const counts = await runCounts(
    profiled.flatMap(({ counted }) => counted),
    run,
  )
  return {
    rows: Number(rows),
    columns: profiled.map(({ totals, counted }) => ({
      ...{ ...totals, values: null, valueRows: null, histogram: null },
      ...Object.assign({}, ...counted.map((each) => counts.get(each))),
    })),
  }
}

function profiledCell(dialect: Dialect, column: Column, name: string): ProfiledCell {
  const named = [name, column] as const
  if (!dialect.profilesTexts || !isRendered(column)) {
    return { named, column, value: presentValue(dialect, column, name) }
  }
  const type = { kind: 'scalar', name: 'VARCHAR' } as const
  return { named, column: { ...column, type }, value: servedText(dialect, column.type, name) }
}

function totalsSql(dialect: Dialect, { column, value }: ProfiledCell): readonly string[] {
  return [
    // Without FILTER, with which DuckDB copies every column of a chunk for every aggregate.
    `count(*) - count(${value})`,
    isOrdered(column) ? encodeCell(dialect, column, `min(${value})`) : 'NULL',
    isOrdered(column) ? encodeCell(dialect, column, `max(${value})`) : 'NULL',
    isListed(column) ? `${dialect.functions.distinctEstimate}(${value})` : 'NULL',
  ]
}

async function runCounts(
  counted: readonly CountedCell[],
  run: RunAggregates,
): Promise<ReadonlyMap<CountedCell, Counts>> {
  if (counted.length === 0) return new Map()
  const columns = new Set(counted.map(({ cell }) => cell.named))
  const aggregates = counted.flatMap(({ sql }) => sql)
  const found = await run([...columns], aggregates)
  let next = 0
  return new Map(
    counted.map((each) => {
      const values = found.slice(next, next + each.sql.length)
      next += each.sql.length
      return [each, each.read(values)]
    }),
  )
}

/** Every value with its rows; no list if there are more than `listMax`. */
function countedValues(dialect: Dialect, cell: ProfiledCell, listMax: number): CountedCell {
  const entries = `array_sort(map_entries(histogram(${cell.value})))`
  const text = encodeCell(dialect, cell.column, dialect.field('e', 1))
  const count = dialect.field('e', 2)
  return {
    cell,
    sql: [text, count].map((each) => dialect.jsonList(dialect.transform(entries, 'e', each))),
    read: ([texts, rows]) => {
      const values = listOf<string>(texts)
      return values.length > listMax ? {} : { values, valueRows: listOf<number>(rows) }
    },
  }
}

/** Null for a column without a range. */
function countedBins(dialect: Dialect, cell: ProfiledCell, totals: Totals): CountedCell | null {
  const scale = scaleOf(cell.column, totals)
  if (!scale) return null
  const { edges, textOf } = scale
  const { shown } = cell.column.rules
  const isMoment = shown === 'date' || shown === 'timestamp'
  const size = isMoment ? dialect.epochMs(cell.column, cell.value) : cell.value
  return {
    cell,
    sql: [dialect.binCounts(`CAST(${size} AS DOUBLE)`, edges)],
    read: ([rows]) => ({ histogram: { edges: edges.map(textOf), rows: listOf<number>(rows) } }),
  }
}

/** A JSON array; empty if no row has a value. */
function listOf<Item>(json: string | null | undefined): readonly Item[] {
  return json === null || json === undefined ? [] : (JSON.parse(json) as Item[])
}
