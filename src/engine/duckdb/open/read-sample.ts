import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import { FileError } from '../../../versions/opener.js'
import type { Sample, SampledColumn, RowOrder, WithSample } from '../../../versions/sample.js'
import type { DataFile, Version } from '../../../versions/version.js'
import { abortAfter, machineClock } from '../../../clock.js'
import { bindBigint } from '../bind.js'
import { readFailure } from '../duckdb-failure.js'
import { servedText } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql, foldersOf } from '../paths.js'
import { runnerOn, textOrNull } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { inSandbox, withTempFolder } from '../sandbox.js'
import { identifier } from '../../sql/quote.js'

const rowsMax = 200_000
const filesMax = 40
const timeoutMs = 120_000

/** Loads a sample of a version into a sandbox, where it stays until `use` ends. */
export function duckDbSampler(memoryLimitBytes: number): WithSample {
  return (version, columns, use) =>
    withTempFolder('das-sample-', (tempFolder, plain) => {
      const folders = foldersOf(chosenFiles(version).map(({ path }) => path))
      const options = { folders, tempFolder, memoryLimitBytes, threads: 1 }
      return inSandbox(options, async (connection) => {
        const run = runnerOn(connection, abortAfter(machineClock, timeoutMs))
        await load(run, chosenFiles(plain.version(version)), columns)
        return use(await sampleOf(run, columns))
      })
    })
}

/** All files if they are few; otherwise some of them, evenly spread. */
function chosenFiles({ files }: Version): readonly DataFile[] {
  const filled = files.filter(({ rows }) => rows > 0)
  const step = Math.max(1, filled.length / filesMax)
  return filled.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

/** Loads the first rows of each file: `f` is the file, `c0`, `c1`, … are the columns. */
async function load(
  run: RunStatement,
  files: readonly DataFile[],
  columns: readonly Column[],
): Promise<void> {
  const types = columns.map(({ type }, index) => `, c${index} ${typeText(type)}`)
  await run({ sql: `CREATE TEMP TABLE sample (f INTEGER${types.join('')})` })
  for (const [index, { path, types: own }] of files.entries()) {
    const cells = columns.map(({ source }) => (own.has(source) ? identifier(source) : 'NULL'))
    const sql = `INSERT INTO sample SELECT ${[index, ...cells].join(', ')}
      FROM ${boundFilesSql('$1')} LIMIT $2`
    const rows = Math.ceil(rowsMax / files.length)
    try {
      await run({ sql, values: [bindPaths([path]), bindBigint(rows)] })
    } catch (cause) {
      const { type, text } = readFailure(cause)
      const [words = ''] = text.replaceAll(path, 'the file').split('\n')
      throw new FileError(path, `can't be read to its end: ${words} (${type})`, cause)
    }
  }
}

async function sampleOf(run: RunStatement, columns: readonly Column[]): Promise<Sample> {
  const [[rows] = []] = await run({ sql: 'SELECT count(*) FROM sample' })
  const sampled: SampledColumn[] = []
  for (const [index, column] of columns.entries()) {
    sampled.push(await sampledColumn(run, column, `c${index}`))
  }
  const cellsOf = (wanted: readonly Column[]) => wanted.map((each) => `c${columns.indexOf(each)}`)
  return {
    rows: Number(rows),
    columns: sampled,
    rowOrder: (wanted) => takenTogether(run, cellsOf(wanted)),
    example: (wanted) => exampleRow(run, wanted, cellsOf(wanted)),
  }
}

async function sampledColumn(
  run: RunStatement,
  column: Column,
  cell: string,
): Promise<SampledColumn> {
  const ends = [`min(${cell})`, `max(${cell})`].map((end) => servedText(duckdb, column.type, end))
  const found = await run({
    sql: `SELECT count(${cell}), count(DISTINCT ${cell}), ${ends.join(', ')} FROM sample`,
  })
  const [filled, distinct, least, most] = found.map(([value]) => value)
  return {
    column,
    filled: Number(filled),
    distinct: Number(distinct),
    least: textOrNull(least),
    most: textOrNull(most),
  }
}

async function takenTogether(run: RunStatement, cells: readonly string[]): Promise<RowOrder> {
  const found = await run({
    sql: `SELECT count(DISTINCT r), count(*) FILTER (r < p), count(*) FILTER (r = p),
       count(*) FILTER (r > p)
     FROM (SELECT r, lag(r) OVER (PARTITION BY f ORDER BY place) AS p
       FROM (SELECT row(${cells.join(', ')}) AS r, f, rowid AS place FROM sample))`,
  })
  const [distinct = 0, falls = 0, ties = 0, rises = 0] = found.map(([count]) => Number(count))
  return { distinct, falls, ties, rises }
}

async function exampleRow(
  run: RunStatement,
  columns: readonly Column[],
  cells: readonly string[],
): Promise<readonly (string | null)[]> {
  const texts = columns.map(({ type }, index) => servedText(duckdb, type, cells[index] ?? ''))
  const found = await run({
    sql: `SELECT ${texts.join(', ')} FROM sample WHERE ${cells[0]} IS NOT NULL ORDER BY rowid
     LIMIT 1 OFFSET (SELECT count(${cells[0]}) // 2 FROM sample)`,
  })
  return found.map(([value]) => textOrNull(value))
}
