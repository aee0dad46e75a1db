import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Column } from '../../../columns/column.js'
import { typeText } from '../../../columns/data-type.js'
import { FileError } from '../../../versions/opener.js'
import type { Sample, SampledColumn, Together, WithSample } from '../../../versions/sample.js'
import type { DataFile, Version } from '../../../versions/version.js'
import { bindBigint } from '../bind.js'
import { readFailure } from '../duckdb-failure.js'
import { servedText } from '../encode/encode.js'
import { bindPaths } from '../paths.js'
import { PlainPaths } from '../plain-paths.js'
import { runStatement } from '../run-statement.js'
import { startInstance } from '../sandbox.js'
import { identifier } from '../sql.js'
import type { Ask } from './read-bounds.js'

const rowsMax = 200_000
const filesMax = 40
const timeoutMs = 120_000

/** The catalog's sampler over DuckDB: a sandboxed instance for this call alone. */
export function duckDbSampler(memoryLimitBytes: number): WithSample {
  return async (version, columns, use) => {
    const tempFolder = await mkdtemp(join(tmpdir(), 'das-sample-'))
    const plain = new PlainPaths()
    try {
      const folders = [...new Set(chosenFiles(version).map(({ path }) => dirname(path)))]
      const instance = await startInstance({ folders, tempFolder, memoryLimitBytes, threads: 1 })
      try {
        const connection = await instance.connect()
        const signal = AbortSignal.timeout(timeoutMs)
        const ask: Ask = (sql, ...values) => runStatement(connection, { sql, values }, signal)
        await load(ask, chosenFiles(plain.version(version)), columns)
        return await use(await sampleOf(ask, columns))
      } finally {
        instance.closeSync()
      }
    } catch (cause) {
      throw plain.inOwnNames(cause)
    } finally {
      plain.close()
      await rm(tempFolder, { recursive: true, force: true })
    }
  }
}

/** All of few files; of many some, evenly spread. */
function chosenFiles({ files }: Version): readonly DataFile[] {
  const filled = files.filter(({ rows }) => rows > 0)
  const step = Math.max(1, filled.length / filesMax)
  return filled.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
}

/** The first rows of each file: `f` is the file, `c0`, `c1`, … are the columns. */
async function load(
  ask: Ask,
  files: readonly DataFile[],
  columns: readonly Column[],
): Promise<void> {
  const types = columns.map(({ type }, index) => `, c${index} ${typeText(type)}`)
  await ask(`CREATE TEMP TABLE sample (f INTEGER${types.join('')})`)
  for (const [index, { path, types: own }] of files.entries()) {
    const cells = columns.map(({ source }) => (own.has(source) ? identifier(source) : 'NULL'))
    const insert = `INSERT INTO sample SELECT ${[index, ...cells].join(', ')}
      FROM read_parquet($1, hive_partitioning = false, union_by_name = false) LIMIT $2`
    try {
      await ask(insert, bindPaths([path]), bindBigint(Math.ceil(rowsMax / files.length)))
    } catch (cause) {
      const { type, text } = readFailure(cause)
      const [words = ''] = text.replaceAll(path, 'the file').split('\n')
      throw new FileError(path, `can't be read to its end: ${words} (${type})`, cause)
    }
  }
}

async function sampleOf(ask: Ask, columns: readonly Column[]): Promise<Sample> {
  const [[rows] = []] = await ask('SELECT count(*) FROM sample')
  const sampled: SampledColumn[] = []
  for (const [index, column] of columns.entries()) {
    sampled.push(await columnFacts(ask, column, `c${index}`))
  }
  const cellsOf = (wanted: readonly Column[]) => wanted.map((each) => `c${columns.indexOf(each)}`)
  return {
    rows: Number(rows),
    columns: sampled,
    together: (wanted) => togetherFacts(ask, cellsOf(wanted)),
    example: (wanted) => exampleRow(ask, wanted, cellsOf(wanted)),
  }
}

async function columnFacts(ask: Ask, column: Column, cell: string): Promise<SampledColumn> {
  const ends = [`min(${cell})`, `max(${cell})`].map((end) => servedText(column.type, end))
  const [[filled] = [], [distinct] = [], [least] = [], [most] = []] = await ask(
    `SELECT count(${cell}), count(DISTINCT ${cell}), ${ends.join(', ')} FROM sample`,
  )
  const text = (value: unknown) => (value === null ? null : String(value))
  return {
    column,
    filled: Number(filled),
    distinct: Number(distinct),
    least: text(least),
    most: text(most),
  }
}

async function togetherFacts(ask: Ask, cells: readonly string[]): Promise<Together> {
  const [[distinct] = [], [falls] = [], [ties] = [], [rises] = []] = await ask(
    `SELECT count(DISTINCT r), count(*) FILTER (r < p), count(*) FILTER (r = p),
       count(*) FILTER (r > p)
     FROM (SELECT r, lag(r) OVER (PARTITION BY f ORDER BY place) AS p
       FROM (SELECT row(${cells.join(', ')}) AS r, f, rowid AS place FROM sample))`,
  )
  const [a, b, c, d] = [distinct, falls, ties, rises].map(Number)
  return { distinct: a ?? 0, falls: b ?? 0, ties: c ?? 0, rises: d ?? 0 }
}

async function exampleRow(
  ask: Ask,
  columns: readonly Column[],
  cells: readonly string[],
): Promise<readonly (string | null)[]> {
  const texts = columns.map(({ type }, index) => servedText(type, cells[index] ?? ''))
  const found = await ask(
    `SELECT ${texts.join(', ')} FROM sample WHERE ${cells[0]} IS NOT NULL ORDER BY rowid
     LIMIT 1 OFFSET (SELECT count(${cells[0]}) // 2 FROM sample)`,
  )
  return found.map(([value]) => (value === undefined || value === null ? null : String(value)))
}
