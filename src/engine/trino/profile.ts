import { hasCodes } from '../../columns/column.js'
import type { Column } from '../../columns/column.js'
import type { ColumnProfile, Profile, ProfileQuestion } from '../engine.js'
import { isListed, isOrdered, scaleOf } from '../profiled-column.js'
import type { Scale } from '../profiled-column.js'
import { rowsOf, sourceOf } from './compile.js'
import { presentValue } from './condition.js'
import { encodeCell, servedText } from './encode.js'
import { boundDouble, joined, sql } from './sql.js'
import type { Sql } from './sql.js'
import type { RunTrino } from './run-trino.js'

/** A column of the question. */
interface ProfiledCell {
  readonly column: Column
  /** SQL for the value; NULL if null is served. */
  readonly value: string
}

/** What the second statement returns of a column. */
type Counts = Pick<ColumnProfile, 'values' | 'valueRows' | 'histogram'>

/** An expression of the second statement, and what its result adds to a column's profile. */
interface Counted {
  readonly place: number
  readonly sql: Sql | string
  readonly read: (found: string | null) => Partial<Counts>
}

/** An estimate may be a few percent too high for a column just within the limit. */
const estimateSlack = 1.2
const aggregatesPerColumn = 4
/** A sample by a hash of the key may have a few percent more rows than asked for. */
const sampleSlack = 1.1

/**
 * Profiles columns with two statements, like DuckDB: totals and an estimate of the distinct values,
 * then the rows of each value of columns that seem to have few, and of each bin of a histogram.
 */
export async function profileColumns(question: ProfileQuestion, run: RunTrino): Promise<Profile> {
  const { columns, valuesMax, codesMax = valuesMax, withHistograms = false } = question
  const cells = columns.map((column, index): ProfiledCell => {
    return { column, value: presentValue(column, `c${index}`) }
  })
  const [[rows = null, ...found] = []] = await run(
    overRows(question, ['count(*)', ...totals(cells)]),
  )
  const facts = cells.map((_, index) => {
    const from = index * aggregatesPerColumn
    const [empty, min = null, max = null, estimate] = found.slice(from, from + aggregatesPerColumn)
    return {
      totals: { emptyRows: Number(empty), min, max },
      estimate: Number(estimate ?? Infinity),
    }
  })
  const counted = cells.flatMap((cell, place) => {
    const fact = facts[place]
    if (!fact) return []
    const listMax = hasCodes(cell.column) ? codesMax : valuesMax
    const scale = withHistograms ? scaleOf(cell.column, fact.totals) : null
    return [
      ...(fact.estimate <= listMax * estimateSlack ? [countedValues(cell, place, listMax)] : []),
      ...(scale ? [countedBins(cell, place, scale)] : []),
    ]
  })
  const counts = await runCounts(question, counted, run)
  return {
    rows: Number(rows),
    columns: facts.map(({ totals }, place) => ({
      ...totals,
      ...{ values: null, valueRows: null, histogram: null },
      ...counts.get(place),
    })),
  }
}

async function runCounts(
  question: ProfileQuestion,
  counted: readonly Counted[],
  run: RunTrino,
): Promise<ReadonlyMap<number, Partial<Counts>>> {
  const counts = new Map<number, Partial<Counts>>()
  if (counted.length === 0) return counts
  const [cells = []] = await run(
    overRows(
      question,
      counted.map((each) => each.sql),
    ),
  )
  for (const [index, { place, read }] of counted.entries()) {
    counts.set(place, { ...counts.get(place), ...read(cells[index] ?? null) })
  }
  return counts
}

function totals(cells: readonly ProfiledCell[]): readonly string[] {
  return cells.flatMap(({ column, value }) => [
    `count(*) - count(${value})`,
    isOrdered(column) ? encodeCell(column, `min(${value})`) : 'NULL',
    isOrdered(column) ? encodeCell(column, `max(${value})`) : 'NULL',
    isListed(column) ? `approx_distinct(${value})` : 'NULL',
  ])
}

/** Every value with its rows; no list if there are more than `listMax`. */
function countedValues({ column, value }: ProfiledCell, place: number, listMax: number): Counted {
  const isRendered = column.rules.domain.kind === 'text' && column.rules.domain.form === 'rendered'
  const listed = isRendered ? servedText(column.type, value) : value
  const of = isRendered ? { ...column, type: { kind: 'scalar', name: 'VARCHAR' } as const } : column
  const entries = `array_sort(map_entries(histogram(${listed})))`
  const text = `transform(${entries}, e -> ${encodeCell(of, 'e[1]')})`
  const rows = `transform(${entries}, e -> CAST(e[2] AS VARCHAR))`
  return {
    place,
    sql: `json_format(CAST(ARRAY[${text}, ${rows}] AS JSON))`,
    read: (found) => {
      const [values, valueRows = []] = readJson<readonly string[][]>(found) ?? []
      if (!values) return { values: [], valueRows: [] }
      return values.length > listMax ? {} : { values, valueRows: valueRows.map(Number) }
    },
  }
}

/** A bin lies between two edges and includes the upper one; the first also the lower one. */
function countedBins({ column, value }: ProfiledCell, place: number, scale: Scale): Counted {
  const { edges, textOf } = scale
  const size = sizeSql(column, value)
  const uppers = edges.slice(1, -1)
  const bins = [
    ...uppers.map((edge) => sql`count_if(${size} <= ${boundDouble(edge)})`),
    sql`count(${size})`,
  ]
  return {
    place,
    sql: sql`json_format(CAST(ARRAY[${joined(bins, ', ')}] AS JSON))`,
    read: (found) => {
      const upTo = readJson<readonly number[]>(found) ?? []
      const rows = upTo.map((count, index) => count - (upTo[index - 1] ?? 0))
      return { histogram: { edges: edges.map(textOf), rows } }
    },
  }
}

/** SQL of a value as a number on its scale. */
function sizeSql({ rules: { shown } }: Column, value: string): string {
  if (shown === 'date') return `(to_unixtime(CAST(${value} AS TIMESTAMP(3))) * 1000)`
  if (shown === 'timestamp') return `floor(to_unixtime(${value}) * 1000)`
  return `CAST(${value} AS DOUBLE)`
}

/** One row of aggregates over the question's rows, each as text. */
function overRows(question: ProfileQuestion, aggregates: readonly (Sql | string)[]): Sql {
  const { version, predicates, columns } = question
  const cells = aggregates.map((each) => sql`CAST(${each} AS VARCHAR)`)
  const rows = sql`${rowsOf(version, predicates, columns)}${sampled(question)}`
  return sql`SELECT ${joined(cells, ', ')} FROM (${rows})`
}

/** The same rows of the table each time, chosen by a hash of their key. */
function sampled({ version, rowsMax }: ProfileQuestion): string {
  if (rowsMax === null || version.rows <= rowsMax) return ''
  const parts = Math.ceil((version.rows / rowsMax) * sampleSlack)
  const key = version.key.map((column) => {
    return `coalesce(CAST(${servedText(column.type, sourceOf(column))} AS VARCHAR), '')`
  })
  const hash = `from_big_endian_64(xxhash64(to_utf8(${key.join(` || ' ' || `)})))`
  return ` AND mod(${hash}, ${parts}) = 0`
}

function readJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}
