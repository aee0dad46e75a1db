import { availableParallelism } from 'node:os'
import type { DuckDBPreparedStatement } from '@duckdb/node-api'
import { openDuckDb } from '../harness/duckdb.js'
import type { Cleanup } from '../harness/script.js'
import type { Facts } from './data.js'
import type { Row } from './messages.js'
import type { Question, RowsQuestion } from './questions.js'

/** What was asked, and what it took until its rows were there as JSON texts. */
interface Answer {
  readonly ms: number
  readonly rows: readonly Row[]
}

/**
 * The bare engine: DuckDB without a server, asked as a good engineer would by hand. Statements are
 * prepared once for each shape of question, and a question for one year gets that year's file.
 */
export async function openEngine(facts: Facts, cleanup: Cleanup) {
  const { connection, ...duckdb } = await openDuckDb({
    threads: String(availableParallelism()),
    enable_external_file_cache: 'true',
  })
  cleanup.add(async () => duckdb[Symbol.dispose]())
  const prepared = new Map<string, DuckDBPreparedStatement>()
  const statementOf = async (sql: string) => {
    const statement = prepared.get(sql) ?? (await connection.prepare(sql))
    prepared.set(sql, statement)
    return statement
  }
  const all = tableOf(facts.files)
  return async (question: Question): Promise<Answer> => {
    const isRows = question.kind === 'rows'
    const sql = isRows
      ? rowsSql(question, facts)
      : `SELECT CAST(to_json(found) AS VARCHAR) FROM (${question.sql(all)}) found`
    const values = isRows ? valuesOf(question) : []
    const startedMs = performance.now()
    const statement = isRows ? await statementOf(sql) : await connection.prepare(sql)
    for (const [at, value] of values.entries()) statement.bindVarchar(at + 1, value)
    const [texts = []] = (await statement.runAndReadAll()).getColumns()
    const ms = performance.now() - startedMs
    // Each text is one row's object.
    return { ms, rows: texts.map((text) => JSON.parse(String(text)) as Row) }
  }
}

/** `word` is a value of its own too: a statement is planned for a shape, not for its values. */
function rowsSql(question: RowsQuestion, { files, years, columns }: Facts): string {
  const { select, by, year, okved, word, limit } = question
  const own = files[years.indexOf(year ?? NaN)]
  const from = tableOf(year !== null && own !== undefined ? [own] : files)
  let last = 0
  const next = () => `$${(last += 1)}`
  const list = by?.values.map(next) ?? []
  const conditions = [
    by && `${by.column} ${list.length > 1 ? `IN (${list.join(', ')})` : `= ${list[0]}`}`,
    year !== null && `year = ${year}`,
    okved !== null && `starts_with(okved, ${next()})`,
    word !== null && `contains(name, ${next()})`,
  ].filter(Boolean)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const fields = (select ?? columns).map((name) => `'${name}': "${name}"`)
  const json = `CAST(to_json({${fields.join(', ')}}) AS VARCHAR)`
  return `SELECT ${json} FROM ${from} ${where} LIMIT ${limit}`
}

function valuesOf({ by, okved, word }: RowsQuestion): readonly string[] {
  return [...(by?.values ?? []), ...[okved, word].filter((value) => value !== null)]
}

function tableOf(files: readonly string[]): string {
  return `read_parquet([${files.map((path) => `'${path}'`).join()}])`
}
