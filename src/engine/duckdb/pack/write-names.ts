import type { Column } from '../../../columns/column.js'
import type { Predicate } from '../../../columns/predicate.js'
import { writeNameIndex } from '../../../names/write-names.js'
import type { NamedEntity } from '../../../names/write-names.js'
import { textOfJson } from '../../../row-texts.js'
import type {
  EntityToIndex,
  FormsOrder,
  PlainPredicate,
} from '../../../versions/forms/forms-order.js'
import { periodBits } from '../../../versions/forms/name-periods.js'
import { condition } from '../../sql/condition.js'
import { encodeCell } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { bindBigint } from '../bind.js'
import { targetSql } from '../paths.js'
import { selectRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { columnsOf, layoutSql, readSql, scansOfAll } from './pack-sql.js'

const rowGroupRows = 122_880
/** Names that are read from the groups at once. */
const namesAtOnce = 40_960

/**
 * Writes the index of an order's entities: DuckDB groups the rows by key and name into the file
 * `rows`, from which the index is made.
 */
export async function writeNames(
  order: FormsOrder,
  path: string,
  rows: string,
  run: RunStatement,
): Promise<void> {
  const { entity } = order
  if (!entity) throw new RangeError('the dataset has no entity')
  const { sql, values = [] } = namesOf(order, entity)
  await run({ sql: `COPY (${sql}) TO ${targetSql(rows)} ${layoutSql(rowGroupRows)}`, values })
  await writeNameIndex(path, readNames(rows, run), entity.aliases)
}

async function* readNames(rows: string, run: RunStatement): AsyncGenerator<NamedEntity> {
  for (let from = 0; ; from += namesAtOnce) {
    const [keys = [], names = [], periods = [], demoPeriods = [], ranks = [], facts = []] =
      await run({
        sql: `SELECT key, name, periods, demo_periods, rank, facts FROM ${readSql(rows)}
          WHERE file_row_number >= $1 AND file_row_number < $2 ORDER BY file_row_number`,
        values: [bindBigint(from), bindBigint(from + namesAtOnce)],
      })
    for (const [index, key] of keys.entries()) {
      const rank = ranks[index]
      yield {
        key: textOfJson(String(key)),
        name: textOfJson(textOrNull(names[index]) ?? '""'),
        periods: Number(periods[index]),
        demoPeriods: Number(demoPeriods[index]),
        rank: typeof rank === 'number' ? rank : null,
        facts: String(facts[index]),
      }
    }
    if (keys.length < namesAtOnce) return
  }
}

/**
 * SQL of a row for each key under each of its names: in which periods it has the name, and what
 * its newest row shows: `[key, period, rank]` as JSON, for the demo token too if it sees another.
 */
function namesOf(order: FormsOrder, entity: EntityToIndex): Statement {
  const byName = columnsOf(order)
  const of = (source: string | null) => byName.get(source ?? '') ?? null
  const parameters = new SqlParameters()
  const selects = scansOfAll(order).map((scan) =>
    selectRows(scan, [], parameters, (sqlOf) =>
      cellsOf(entity, of(order.history), of, sqlOf, parameters),
    ),
  )
  const [shownPeriod, shownRank] = ['period', 'rank'].map((name) => `coalesce(${name}, 'null')`)
  const fact = `'[' || key || ',' || ${shownPeriod} || ',' || ${shownRank} || ']'`
  const newest = '{has: place IS NOT NULL, place: place, size: coalesce(size, 0)}'
  const sql = `SELECT key, name, bit_or(CAST(1 AS BIGINT) << bit) AS periods,
      coalesce(bit_or(CAST(1 AS BIGINT) << bit) FILTER (WHERE demo), 0) AS demo_periods,
      arg_max_null(arg_max_null(size, ${newest}), max(${newest})) OVER (PARTITION BY key) AS rank,
      '[' || arg_max(${fact}, ${newest})
        || coalesce(',' || arg_max(${fact}, ${newest}) FILTER (WHERE demo), '') || ']' AS facts
    FROM (${selects.join(' UNION ALL ')}) WHERE key IS NOT NULL
    GROUP BY key, name ORDER BY rank DESC NULLS LAST, key, max(${newest}) DESC, name`
  return { sql, values: parameters.values }
}

/** `place` orders the rows of an entity by time; `bit` is its period. */
function cellsOf(
  entity: EntityToIndex,
  history: Column | null,
  of: (source: string | null) => Column | null,
  sqlOf: (column: Column) => string,
  parameters: SqlParameters,
): string {
  const [key, name, period, rank] = [entity.key, entity.name, entity.period, entity.rank].map(of)
  const cell = (column: Column | null | undefined) =>
    column ? encodeCell(duckdb, column, sqlOf(column)) : 'NULL'
  const demo = entity.demo?.map((each) => condition(predicateOf(each, of), sqlOf, parameters))
  const time = history ?? period
  const size = rank ? `TRY_CAST(${sqlOf(rank)} AS DOUBLE)` : 'CAST(NULL AS DOUBLE)'
  return `${cell(key)} AS key, CAST(${cell(name)} AS VARCHAR) AS name,
    CAST(${cell(period)} AS VARCHAR) AS period, CAST(${cell(rank)} AS VARCHAR) AS rank,
    CASE WHEN isfinite(${size}) THEN ${size} END AS size,
    ${time ? sqlOf(time) : 0} AS place, ${bitSql(entity, history, sqlOf)} AS bit,
    ${demo?.join(' AND ') ?? 'false'} AS demo`
}

function bitSql(
  { newestYear }: EntityToIndex,
  history: Column | null,
  sqlOf: (column: Column) => string,
): string {
  if (!history || newestYear === null) return String(periodBits - 1)
  const sql = sqlOf(history)
  const year = history.rules.shown === 'integer' ? sql : `date_part('year', ${sql})`
  const back = `${newestYear} - CAST(${year} AS BIGINT)`
  const highest = periodBits - 1
  return `least(${highest}, greatest(0, ${highest} - coalesce(${back}, ${highest})))`
}

function predicateOf(
  { column: source, ...predicate }: PlainPredicate,
  of: (source: string | null) => Column | null,
): Predicate {
  const column = of(source)
  return (column ? { ...predicate, column } : predicate) as Predicate
}
