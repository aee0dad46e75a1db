/**
 * The bare engine in a process of its own: DuckDB with the server's threads, memory and settings,
 * statements prepared once, and the time taken around the query until its rows are there as text.
 */
import type { DuckDBInstance } from '@duckdb/node-api'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { defaultMemory } from '../../src/machine.js'
import { bindText, bindTexts } from '../../src/engine/duckdb/bind.js'
import { startInstance } from '../../src/engine/duckdb/sandbox.js'
import type { EngineOrder, EngineReply } from './engine.js'
import type { Question } from './questions.js'
import { chooseFiles, sqlOf, valuesOf, walkSqlOf, walkValuesOf } from './statement.js'
import type { FileBounds } from './statement.js'
import { Statements } from '../harness/duckdb.js'
import { serveOrders } from '../harness/worker.js'

/** What the questions need; set by the first order. */
interface OpenLayout {
  readonly instance: DuckDBInstance
  readonly statements: Statements
  readonly files: readonly FileBounds[]
  readonly columns: readonly string[]
}

const noRows: EngineReply = { ms: 0, rows: [], next: null, latenciesMs: [] }
let layout: OpenLayout | null = null

async function answer(order: EngineOrder): Promise<EngineReply> {
  if (order.kind === 'open') {
    layout = await open(order.files, order.columns)
    return noRows
  }
  if (layout === null) throw new Error('nothing is open')
  if (order.kind === 'load') return load(layout, order.questions, order.seconds)
  if (order.kind === 'walk') return walk(layout, order.question, order.place)
  const startedMs = performance.now()
  const rows = await ask(layout, layout.statements, order.question)
  return { ...noRows, ms: performance.now() - startedMs, rows }
}

async function open(files: readonly string[], columns: readonly string[]): Promise<OpenLayout> {
  const instance = await startInstance({
    folders: [...new Set(files.map((path) => dirname(path)))],
    tempFolder: null,
    memoryLimitBytes: defaultMemory(),
    threads: availableParallelism(),
  })
  const statements = new Statements(await instance.connect())
  return { instance, statements, files: await readBounds(statements, files), columns }
}

async function readBounds(
  statements: Statements,
  files: readonly string[],
): Promise<readonly FileBounds[]> {
  const sql = `SELECT file_name, min(stats_min_value), max(stats_max_value)
    FROM parquet_metadata($1::VARCHAR[]) WHERE path_in_schema = $2 GROUP BY file_name`
  const boundsOf = async (column: string) => {
    const [paths = [], min = [], max = []] = await statements.run(sql, [
      bindTexts(files),
      bindText(column),
    ])
    return new Map(paths.map((path, at) => [path, { min: String(min[at]), max: String(max[at]) }]))
  }
  const [inns, years] = [await boundsOf('inn'), await boundsOf('year')]
  return files.map((path) => {
    const [inn, year] = [inns.get(path), years.get(path)]
    if (!inn || !year) throw new Error(`no statistics of inn and year in ${path}`)
    return { path, inn, year: { min: Number(year.min), max: Number(year.max) } }
  })
}

async function ask(
  { files, columns }: OpenLayout,
  statements: Statements,
  question: Question,
): Promise<readonly string[]> {
  const chosen = chooseFiles(files, question)
  if (chosen.length === 0) return []
  const [rows = []] = await statements.run(sqlOf(question, columns), valuesOf(question, chosen))
  return rows.map(String)
}

/** A page by keyset: file by file, from the row after the last one. */
async function walk(
  { files, columns, statements }: OpenLayout,
  question: Question,
  place: string | null,
): Promise<EngineReply> {
  const startedMs = performance.now()
  const sql = walkSqlOf(question, columns)
  const rows: string[] = []
  let [file = 0, row = 0] = place?.split(':').map(Number) ?? []
  for (let at = files[file]; at; at = files[file]) {
    const missing = question.limit - rows.length
    const [found = [], numbers = []] = await statements.run(
      sql,
      walkValuesOf(at.path, row, missing),
    )
    rows.push(...found.map(String))
    if (found.length === missing) {
      row = Number(numbers.at(-1)) + 1
      break
    }
    file += 1
    row = 0
  }
  const next = file < files.length ? `${file}:${row}` : null
  return { ...noRows, ms: performance.now() - startedMs, rows, next }
}

/** As many connections as cores, each in a loop of its own. */
async function load(
  open: OpenLayout,
  questions: readonly Question[],
  seconds: number,
): Promise<EngineReply> {
  const latenciesMs: number[] = []
  const endMs = performance.now() + seconds * 1000
  let begun = 0
  const work = async () => {
    const statements = new Statements(await open.instance.connect())
    while (performance.now() < endMs) {
      const question = questions[begun++ % questions.length]
      if (!question) return
      const startedMs = performance.now()
      await ask(open, statements, question)
      latenciesMs.push(performance.now() - startedMs)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return { ...noRows, latenciesMs }
}

serveOrders(answer, async () => layout?.instance.closeSync())
