import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { packedName, packLayout } from '../../src/engine/duckdb/pack/pack-layout.js'
import { layoutSql } from '../../src/engine/duckdb/pack/pack-sql.js'
import { pathsSql } from '../../src/engine/duckdb/paths.js'
import { openDuckDb } from '../harness/duckdb.js'
import type { DuckDb } from '../harness/duckdb.js'
import { parquetFiles } from './form.js'

/** The forms, by name. */
export const formNames = [
  'yearly',
  'packed',
  'by year',
  'by year large',
  'native 61440',
  'native 20480',
] as const
export type FormName = (typeof formNames)[number]

export interface FormsOrder {
  /** Yearly files that generate-financials.ts has made. */
  readonly source: string
  readonly years: number
  /** A folder packed from them before; null = packed here. */
  readonly packed: string | null
  /** Where forms are made, and where those of a run before are found. */
  readonly folder: string
}

/** One large row group is a file. */
const largeRows = 122_880
const threads = '2'
const memoryLimit = '3GB'

/**
 * The files of some forms, which are made if they are not there yet; packed files are always among
 * them.
 */
export async function makeForms(
  order: FormsOrder,
  names: readonly FormName[],
  update: (words: string) => void,
): Promise<ReadonlyMap<FormName, readonly string[]>> {
  const folder = join(order.folder, `years-${order.years}`)
  await mkdir(folder, { recursive: true })
  const temp = join(folder, 'tmp')
  const make: Make = async (name, work) => {
    const path = join(folder, name)
    if (await exists(path)) return path
    update(`making ${path}`)
    const settings = { threads, memory_limit: memoryLimit, temp_directory: temp }
    using duckdb = await openDuckDb(settings)
    await rm(`${path}.part`, { recursive: true, force: true })
    await work(duckdb, `${path}.part`)
    await rename(`${path}.part`, path)
    return path
  }
  const yearly = await makeYearly(order, make)
  const packed = await parquetFiles(
    order.packed ?? (await make('packed', (duckdb, path) => writePacked(duckdb, yearly, path))),
  )
  const byYear = async (name: FormName, fileRows: number, groupRows: number) =>
    parquetFiles(
      await make(name, (duckdb, path) => writeByYear(duckdb, yearly, path, fileRows, groupRows)),
    )
  const native = async (name: FormName, groupRows: number) => [
    await make(`${name}.db`, (duckdb, path) => writeNative(duckdb, packed, path, groupRows)),
  ]
  const { fileRows, rowGroupRows } = packLayout
  const makers: Readonly<Record<FormName, () => Promise<readonly string[]>>> = {
    yearly: async () => yearly,
    packed: async () => packed,
    'by year': () => byYear('by year', fileRows, rowGroupRows),
    'by year large': () => byYear('by year large', largeRows, largeRows),
    'native 61440': () => native('native 61440', 61_440),
    'native 20480': () => native('native 20480', 20_480),
  }
  const made = new Map<FormName, readonly string[]>([['packed', packed]])
  for (const name of names) made.set(name, await makers[name]())
  return made
}

type Make = (name: string, work: (duckdb: DuckDb, path: string) => Promise<void>) => Promise<string>

/** The last years of the source; more years than it has are copies with other years. */
async function makeYearly({ source, years }: FormsOrder, make: Make): Promise<readonly string[]> {
  const files = await parquetFiles(source)
  if (years <= files.length) return files.slice(-years)
  const folder = await make('yearly', async ({ connection }, path) => {
    await mkdir(path)
    for (let back = 0; back < years; back += 1) {
      const file = files[files.length - 1 - (back % files.length)] ?? ''
      const shift = Math.floor(back / files.length) * files.length
      const rows = `SELECT * REPLACE (CAST(year - ${shift} AS INTEGER) AS year)
        FROM read_parquet('${file}')`
      const name = `${String(years - back).padStart(3, '0')}.parquet`
      await connection.run(`COPY (${rows}) TO '${join(path, name)}'
        (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE ${largeRows})`)
    }
  })
  return parquetFiles(folder)
}

async function writePacked(duckdb: DuckDb, yearly: readonly string[], path: string) {
  await mkdir(path)
  const scratch = `${path}.db`
  const { connection } = duckdb
  await connection.run(`ATTACH '${scratch}' AS scratch`)
  await connection.run(`CREATE TABLE scratch.sorted AS
    SELECT * FROM read_parquet(${pathsSql(yearly)}) ORDER BY inn, year`)
  const rows = await countRows(duckdb, 'scratch.sorted')
  const { fileRows } = packLayout
  for (let from = 0, file = 0; from < rows; from += fileRows, file += 1) {
    const select = `SELECT * FROM scratch.sorted
      WHERE rowid >= ${from} AND rowid < ${from + fileRows}`
    await connection.run(
      `COPY (${select}) TO '${join(path, packedName(file))}' ${layoutSql(packLayout)}`,
    )
  }
  await connection.run('DETACH scratch')
  await rm(scratch)
}

/** Yearly files are sorted by inn already: each is cut into smaller ones. */
async function writeByYear(
  duckdb: DuckDb,
  yearly: readonly string[],
  path: string,
  fileRows: number,
  rowGroupRows: number,
) {
  await mkdir(path)
  let file = 0
  const layout = layoutSql({ ...packLayout, rowGroupRows })
  for (const source of yearly) {
    const { connection } = duckdb
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE year AS SELECT * FROM read_parquet('${source}')`,
    )
    const rows = await countRows(duckdb, 'year')
    for (let from = 0; from < rows; from += fileRows, file += 1) {
      const select = `SELECT * FROM year WHERE rowid >= ${from} AND rowid < ${from + fileRows}`
      await connection.run(`COPY (${select}) TO '${join(path, packedName(file))}' ${layout}`)
    }
  }
}

async function writeNative(
  { connection }: DuckDb,
  packed: readonly string[],
  path: string,
  groupRows: number,
) {
  await connection.run(
    `ATTACH '${path}' AS made (STORAGE_VERSION 'latest', ROW_GROUP_SIZE ${groupRows})`,
  )
  await connection.run(`CREATE TABLE made.statements AS
    SELECT *, row_number() OVER () - 1 AS position FROM read_parquet(${pathsSql(packed)})`)
  await connection.run('CHECKPOINT made')
  await connection.run('DETACH made')
}

async function countRows({ connection }: DuckDb, table: string): Promise<number> {
  const result = await connection.runAndReadAll(`SELECT count(*) FROM ${table}`)
  return Number(result.getRows()[0]?.[0])
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}
