import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Column } from '../../../columns/column.js'
import { filterPredicates } from '../../../columns/predicate.js'
import type { MeasurePackGain, PackGain } from '../../../versions/pack-gain.js'
import { packOrder } from '../../../versions/pack-order.js'
import type { PackOrder } from '../../../versions/packer.js'
import type { DataFile, Version } from '../../../versions/version.js'
import { DuckDbEngine } from '../duckdb-engine.js'
import { servedText } from '../encode/encode.js'
import type { Ask } from '../open/read-bounds.js'
import { targetSql } from '../paths.js'
import { PlainPaths } from '../plain-paths.js'
import { runStatement } from '../run-statement.js'
import { startInstance } from '../sandbox.js'
import type { SandboxOptions } from '../sandbox.js'
import { identifier } from '../sql.js'
import { packFailure } from './pack-failure.js'
import { packLayout, packedName } from './pack-layout.js'
import { wholeScans } from './pack-scans.js'
import { inner, keyColumns, layoutSql, readSql, scanSql } from './pack-sql.js'

const columnsMax = 5
const pageRows = 100
/** Look-ups of other values: one alone may lie luckily. */
const valuesMax = 5
const rounds = 5
/** Enough to find a file's worth of neighbours among many millions. */
const drawnValues = 20_000

/**
 * Measures with the engine that serves: look-ups of a few values from the middle, in turns on the
 * files as they are and on a file of their neighbours, laid out as `das dataset pack` does.
 */
export function duckDbGain(memoryLimitBytes: number): MeasurePackGain {
  return async (version, signal) => {
    const [key] = version.key
    if (!key || version.rows === 0) return null
    const folder = await mkdtemp(join(tmpdir(), 'das-gain-'))
    const sources = new Set(version.files.map(({ path }) => dirname(path)))
    const room = {
      folders: [...sources, folder],
      tempFolder: join(folder, 'tmp'),
      memoryLimitBytes,
      threads: 2,
    }
    const order = packOrder(version, folder, memoryLimitBytes)
    const plain = new PlainPaths()
    try {
      const path = plain.of(join(folder, packedName(0)))
      const sample = await packSample(plain.order(order), key, room, path, signal)
      if (sample.values.length === 0) return null
      return await compare(version, packedVersion(version, sample), sample.values, room, signal)
    } catch (cause) {
      signal.throwIfAborted()
      throw packFailure(plain.inOwnNames(cause), order)
    } finally {
      plain.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

interface Sample {
  readonly path: string
  readonly rows: number
  /** Of the first key column, as a filter writes them. */
  readonly values: readonly string[]
}

async function packSample(
  order: PackOrder,
  key: Column,
  room: SandboxOptions,
  path: string,
  signal: AbortSignal,
): Promise<Sample> {
  const instance = await startInstance(room)
  const connection = await instance.connect()
  try {
    const ask: Ask = (sql, ...values) => runStatement(connection, { sql, values }, signal)
    await ask(neighboursSql(order))
    await ask(sampleSql(order, path))
    const name = identifier(key.source)
    const [values = []] = await ask(
      `SELECT DISTINCT ${servedText(key.type, name)} AS value FROM (
         SELECT ${name} FROM ${readSql([path])} WHERE ${name} IS NOT NULL
           AND file_row_number % (SELECT 1 + count(*) // ${valuesMax} FROM ${readSql([path])}) = 0)
       WHERE value IS NOT NULL LIMIT ${valuesMax}`,
    )
    const [rows = []] = await ask(`SELECT count(*) FROM ${readSql([path])}`)
    return { path, rows: Number(rows[0]), values: values.map(String) }
  } finally {
    connection.disconnectSync()
    instance.closeSync()
  }
}

/** The first key column alone is read whole: two values about a file's worth of rows apart. */
function neighboursSql(order: PackOrder): string {
  const [key] = keyColumns(order)
  const rows = order.files.reduce((sum, file) => sum + file.rows, 0)
  const strands = wholeScans(order).map((strand) => scanSql(order, strand, key ? [key] : []))
  const share = Math.min(1, packLayout.fileRows / rows)
  return `CREATE TEMP TABLE ends AS
    SELECT min(k) AS low, max(k) AS high FROM (
      SELECT k, percent_rank() OVER (ORDER BY k) AS place FROM (
        SELECT ${keySql(order)} AS k FROM (${strands.join(' UNION ALL ')})
        WHERE k IS NOT NULL USING SAMPLE ${drawnValues} ROWS (reservoir, 1)))
    WHERE abs(place - 0.5) <= ${share / 2} OR ${share} = 1`
}

function sampleSql(order: PackOrder, path: string): string {
  const strands = wholeScans(order).map((strand) => scanSql(order, strand, order.columns))
  const by = keyColumns(order).map((column) => inner(order.columns.indexOf(column)))
  const list = order.columns.map(({ name }, index) => `${inner(index)} AS ${identifier(name)}`)
  return `COPY (SELECT ${list.join(', ')} FROM (${strands.join(' UNION ALL ')})
    WHERE ${keySql(order)} >= (SELECT low FROM ends) AND ${keySql(order)} <= (SELECT high FROM ends)
    ORDER BY ${by.join(', ')} LIMIT ${packLayout.fileRows})
    TO ${targetSql(path)} ${layoutSql(packLayout)}`
}

function keySql(order: PackOrder): string {
  const [key] = keyColumns(order)
  return key ? inner(order.columns.indexOf(key)) : 'NULL'
}

/** The version as if it were the one packed file that holds the values. */
function packedVersion(version: Version, { path, rows }: Sample): Version {
  const types = new Map(version.columns.map(({ source, type }) => [source, type]))
  const file: DataFile = {
    path,
    guard: null,
    hash: null,
    name: packedName(0),
    rows,
    types,
    layout: 'packed',
    partition: new Map(),
    bounds: new Map(),
  }
  return { ...version, files: [file], rows }
}

async function compare(
  now: Version,
  packed: Version,
  values: readonly string[],
  room: SandboxOptions,
  signal: AbortSignal,
): Promise<PackGain> {
  const engine = await DuckDbEngine.open({ ...room, slots: 1, queueMax: 1, waitMaxMs: 60_000 })
  const times = { now: [] as number[], packed: [] as number[] }
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const value of values) {
        const before = await lookUp(engine, now, value, signal)
        const after = await lookUp(engine, packed, value, signal)
        // The first round opens what the others find open.
        if (round === 0) continue
        times.now.push(before)
        times.packed.push(after)
      }
    }
    return { nowMs: median(times.now), packedMs: median(times.packed) }
  } finally {
    await engine.close()
  }
}

async function lookUp(
  engine: DuckDbEngine,
  version: Version,
  value: string,
  signal: AbortSignal,
): Promise<number> {
  const [key] = version.key
  if (!key) throw new RangeError('a version without a key')
  const others = version.columns.filter((column) => !version.key.includes(column))
  const columns = [...version.key, ...others].slice(0, columnsMax)
  const predicates = filterPredicates(key, 'eq', [value])
  const startedMs = performance.now()
  const question = { version, predicates, columns, after: null, limit: pageRows }
  await engine.read(question, { signal, client: 'pack gain' })
  return performance.now() - startedMs
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
