import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import type { DuckDb } from '../harness/duckdb.js'
import { sum } from '../harness/statistics.js'

/** What the yearly files hold. */
export interface Facts {
  readonly folder: string
  /** Paths in stored order. */
  readonly files: readonly string[]
  readonly sizeBytes: number
  readonly rows: number
  readonly columns: readonly string[]
  readonly years: readonly number[]
  /** `inn` and `okpo` of companies from all over the data, in no order; the same in every run. */
  readonly companies: readonly string[]
  readonly codes: readonly string[]
  /** Texts that few names contain. */
  readonly words: readonly string[]
}

const years = [2019, 2020, 2021, 2022, 2023, 2024, 2025]
/** The share of companies that have filed in a year. */
const filedShare = 0.95
const sampleFolder = 'data/financials'
const companiesMax = 60_000
const seed = 7
const filesAtOnce = 4

/** The texts of a row, which the sample would repeat for thousands of companies. */
const texts: Readonly<Record<string, string>> = {
  inn: 'company.inn',
  name: `'Общество с ограниченной ответственностью "' ||
    ['Альфа', 'Вектор', 'Заря', 'Лидер', 'Мир', 'Прогресс', 'Север', 'Союз'][luck % 8 + 1]
    || ' ' || i || '"'`,
  kpp: "left(company.inn, 4) || '01001'",
  okpo: "lpad(CAST(luck // 7 % 100000000 AS VARCHAR), 8, '0')",
}

/**
 * Makes so many rows of company statements from the shipped sample: a file a year as a provider
 * would drop them, sorted by `inn`, with the sample's columns, types and empty values. The same
 * DuckDB release makes the same rows.
 */
export async function makeRows(rows: number, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const waiting = years.map((year, at) => {
    return { year, count: Math.floor((rows + at) / years.length) }
  })
  const companies = Math.ceil(rows / years.length / filedShare)
  const work = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      await writeYear(folder, next.year, next.count, companies)
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), filesAtOnce) }, work))
}

/** One year's file, in bounded memory: DuckDB sorts the rest on disk. */
async function writeYear(folder: string, year: number, count: number, companies: number) {
  const spillFolder = join(folder, `${year}.tmp`)
  try {
    using duckdb = await openDuckDb({ memory_limit: '1GiB', temp_directory: spillFolder })
    const { connection } = duckdb
    await connection.run(
      `CREATE TABLE sample AS SELECT *, row_number() OVER (ORDER BY inn) - 1 AS place
       FROM read_parquet('${join(sampleFolder, `${year}.parquet`)}')`,
    )
    await connection.run(`CREATE TABLE company AS ${companiesOf(year, count, companies)}`)
    const path = join(folder, `${year}.parquet`)
    const form = ', COMPRESSION snappy, ROW_GROUP_SIZE 122880'
    await writeParquet(duckdb, `${path}.part`, await rowsOf(duckdb), form)
    await rename(`${path}.part`, path)
  } finally {
    await rm(spillFolder, { recursive: true, force: true })
  }
}

/** The companies that filed in a year, by inn: region 01 to 97, then 8 digits. */
function companiesOf(year: number, count: number, companies: number): string {
  const step = 9_600_000_000 / companies
  return `
    SELECT i, lpad(CAST(CAST(100000000 + floor(i * ${step}) AS BIGINT) AS VARCHAR), 10, '0') AS inn,
      CAST(hash(i, ${seed}) >> 1 AS BIGINT) AS luck,
      pow(10, (hash(i, ${seed}, ${year}) % 1000000) / 250000.0 - 3.9) AS factor
    FROM (SELECT i FROM range(${companies}) company(i)
      ORDER BY hash(i, ${seed}, ${year}, 'filed') LIMIT ${count})`
}

/**
 * A company's amounts are those of a company of the sample, times a factor of its own for the year:
 * numbers hardly repeat, and cells that are empty together stay so.
 */
async function rowsOf({ connection }: DuckDb): Promise<string> {
  const found = await connection.run('SELECT * EXCLUDE (place) FROM sample LIMIT 0')
  const columns = found.columnNames().map((name, index) => {
    const [column, type] = [`"${name}"`, found.columnType(index).toString()]
    const isAmount = /^\d+$/.test(name)
    const value = isAmount ? `CAST(s.${column} * factor AS ${type})` : `s.${column}`
    return `${texts[name] ?? value} AS ${column}`
  })
  return `SELECT ${columns.join(', ')} FROM company
    JOIN sample s ON s.place = luck % (SELECT count(*) FROM sample)
    ORDER BY company.inn`
}

/** Reads what the Parquet files of a folder hold. */
export async function readFacts(folder: string): Promise<Facts> {
  const names = (await readdir(folder)).filter((file) => file.endsWith('.parquet')).sort()
  if (names.length === 0) throw new Error(`no Parquet file in ${folder}`)
  const files = names.map((file) => join(folder, file))
  const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size))
  // A sample's seed repeats it only with one thread, which is what this opens.
  using duckdb = await openDuckDb()
  const table = `read_parquet([${files.map((path) => `'${path}'`).join()}])`
  const column = async (sql: string): Promise<readonly unknown[]> =>
    (await duckdb.connection.runAndReadAll(sql)).getColumns()[0] ?? []
  const [rows] = await column(`SELECT count(*) FROM ${table}`)
  const columns = await column(`SELECT column_name FROM (DESCRIBE FROM ${table})`)
  const found = await column(`SELECT DISTINCT year FROM ${table} ORDER BY 1`)
  await duckdb.connection.run(`CREATE TABLE sample AS SELECT inn, okpo, name FROM ${table}
    USING SAMPLE reservoir(${companiesMax} ROWS) REPEATABLE (${seed})`)
  const sampled = async (what: string) => {
    const values = await column(`SELECT ${what} FROM sample WHERE ${what} <> '' ORDER BY hash(inn)`)
    return [...new Set(values.map(String))]
  }
  return {
    ...{ folder, files, sizeBytes: sum(sizes), rows: Number(rows) },
    columns: columns.map(String),
    years: found.map(Number),
    companies: await sampled('inn'),
    codes: await sampled('okpo'),
    words: await sampled(`regexp_extract(name, '\\d{4,}')`),
  }
}
