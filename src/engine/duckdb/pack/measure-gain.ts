import { join } from 'node:path'
import { machineClock } from '../../../clock.js'
import type { Column } from '../../../columns/column.js'
import { filterPredicates } from '../../../columns/predicate.js'
import { packOrder } from '../../../versions/packing/pack-order.js'
import type { MeasurePackGain, PackGain, PackOrder } from '../../../versions/packing/packer.js'
import type { DataFile, Version } from '../../../versions/version.js'
import { DuckDbEngine } from '../duckdb-engine.js'
import { servedText } from '../encode/encode.js'
import { foldersOf, targetSql } from '../paths.js'
import { runnerOn } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { inSandbox, withTempFolder } from '../sandbox.js'
import type { SandboxOptions } from '../sandbox.js'
import { identifier } from '../sql.js'
import { packFailure } from './pack-failure.js'
import { packLayout, packedName } from './pack-layout.js'
import { wholeScans } from './pack-scans.js'
import { inner, keyColumns, layoutSql, readSql, scanSql } from './pack-sql.js'

const columnsMax = 5
const pageRows = 100
/** Measures several values, because one alone may be unusually fast. */
const valuesMax = 5
const rounds = 5
/** Enough to find one file's number of adjacent rows among many millions. */
const drawnValues = 20_000

/**
 * Measures with the serving engine: looks up a few values from the middle, alternately in the
 * original files and in one file of adjacent rows that is written like `das dataset pack` does.
 */
export function duckDbGain(memoryLimitBytes: number): MeasurePackGain {
  return async (version, signal) => {
    const [key] = version.key
    if (!key || version.rows === 0) return null
    return withTempFolder('das-gain-', async (folder, plain) => {
      const sources = foldersOf(version.files.map(({ path }) => path))
      const tempFolder = join(folder, 'tmp')
      const options = { folders: [...sources, folder], tempFolder, memoryLimitBytes, threads: 2 }
      const order = packOrder(version, folder, false, memoryLimitBytes)
      try {
        const path = plain.of(join(folder, packedName(0)))
        const sample = await inSandbox(options, (connection) =>
          packSample(runnerOn(connection, signal), plain.order(order), key, path),
        )
        if (sample.values.length === 0) return null
        return await compare(
          version,
          packedVersion(version, sample),
          sample.values,
          options,
          signal,
        )
      } catch (cause) {
        signal.throwIfAborted()
        throw packFailure(plain.inOwnNames(cause), order)
      }
    })
  }
}

interface PackedSample {
  readonly path: string
  readonly rows: number
  /** Values of the first key column, in the form of a filter's values. */
  readonly values: readonly string[]
}

async function packSample(
  run: RunStatement,
  order: PackOrder,
  key: Column,
  path: string,
): Promise<PackedSample> {
  await run({ sql: neighboursSql(order) })
  await run({ sql: sampleSql(order, path) })
  const name = identifier(key.source)
  const [values = []] = await run({
    sql: `SELECT DISTINCT ${servedText(key.type, name)} AS value FROM (
       SELECT ${name} FROM ${readSql([path])} WHERE ${name} IS NOT NULL
         AND file_row_number % (SELECT 1 + count(*) // ${valuesMax} FROM ${readSql([path])}) = 0)
     WHERE value IS NOT NULL LIMIT ${valuesMax}`,
  })
  const [rows = []] = await run({ sql: `SELECT count(*) FROM ${readSql([path])}` })
  return { path, rows: Number(rows[0]), values: values.map(String) }
}

/** Reads only the first key column: finds two values about one file's number of rows apart. */
function neighboursSql(order: PackOrder): string {
  const [key] = keyColumns(order)
  const rows = order.files.reduce((sum, file) => sum + file.rows, 0)
  const scans = wholeScans(order).map((scan) => scanSql(order, scan, key ? [key] : []))
  const share = Math.min(1, packLayout.fileRows / rows)
  return `CREATE TEMP TABLE ends AS
    SELECT min(k) AS low, max(k) AS high FROM (
      SELECT k, percent_rank() OVER (ORDER BY k) AS place FROM (
        SELECT ${keySql(order)} AS k FROM (${scans.join(' UNION ALL ')})
        WHERE k IS NOT NULL USING SAMPLE ${drawnValues} ROWS (reservoir, 1)))
    WHERE abs(place - 0.5) <= ${share / 2} OR ${share} = 1`
}

function sampleSql(order: PackOrder, path: string): string {
  const scans = wholeScans(order).map((scan) => scanSql(order, scan, order.columns))
  const by = keyColumns(order).map((column) => inner(order.columns.indexOf(column)))
  const list = order.columns.map(({ name }, index) => `${inner(index)} AS ${identifier(name)}`)
  return `COPY (SELECT ${list.join(', ')} FROM (${scans.join(' UNION ALL ')})
    WHERE ${keySql(order)} >= (SELECT low FROM ends) AND ${keySql(order)} <= (SELECT high FROM ends)
    ORDER BY ${by.join(', ')} LIMIT ${packLayout.fileRows})
    TO ${targetSql(path)} ${layoutSql(packLayout)}`
}

function keySql(order: PackOrder): string {
  const [key] = keyColumns(order)
  return key ? inner(order.columns.indexOf(key)) : 'NULL'
}

/** The version with the packed file as its only file. */
function packedVersion(version: Version, { path, rows }: PackedSample): Version {
  const types = new Map(version.columns.map(({ source, type }) => [source, type]))
  const file: DataFile = {
    path,
    guard: null,
    hash: null,
    name: packedName(0),
    rows,
    types,
    below: '',
    marks: new Map<string, never>(),
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
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<PackGain> {
  const engine = await DuckDbEngine.open({
    ...options,
    clock: machineClock,
    slots: 1,
    queueMax: 1,
    waitMaxMs: 60_000,
  })
  const times = { now: [] as number[], packed: [] as number[] }
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const value of values) {
        const before = await lookUp(engine, now, value, signal)
        const after = await lookUp(engine, packed, value, signal)
        // The first round only warms the caches.
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
  if (!key) throw new RangeError('the version has no key')
  const others = version.columns.filter((column) => !version.key.includes(column))
  const columns = [...version.key, ...others].slice(0, columnsMax)
  const predicates = filterPredicates(key, 'eq', [value])
  const startedMs = machineClock.monotonicMs()
  const question = { version, predicates, columns, after: null, limit: pageRows }
  await engine.read(question, { signal, client: 'pack gain' })
  return machineClock.monotonicMs() - startedMs
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
