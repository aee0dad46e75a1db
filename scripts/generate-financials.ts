import type { DuckDBConnection } from '@duckdb/node-api'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openDuckDb, writeParquet } from './harness/duckdb.js'
import { text, whole } from './harness/options.js'
import type { OptionValues } from './harness/options.js'
import { runScript } from './harness/script.js'

const options = {
  companies: whole('how many companies', null, 1, 100_000_000),
  out: text('where the files are written: 2019.parquet, 2020.parquet…', null),
  sample: text('the files to take columns and values from', 'data/financials'),
  seed: whole('another seed gives other companies', 1, 0, 2 ** 32 - 1),
  codec: text('snappy, zstd, lz4_raw…', 'snappy', 'C'),
}
type Options = OptionValues<typeof options>

const command = {
  name: 'generate-financials',
  usage: 'tsx scripts/generate-financials.ts --companies N --out F',
  about: `Makes statements of any number of companies from the shipped sample: a file a year as a provider
would drop them, sorted by inn, with the sample's columns, types and empty values. A company has
most of the years, so 2,250,000 companies make about 15 million rows. The same seed and the same
DuckDB release give the same rows.`,
  options,
}

const years = [2019, 2020, 2021, 2022, 2023, 2024, 2025]
/** The share of companies that have filed in a year. */
const filedPercent = 95
/** The texts of a row, which the sample would repeat for thousands of companies. */
const texts: Readonly<Record<string, string>> = {
  inn: 'company.inn',
  name: `'Общество с ограниченной ответственностью "' ||
    ['Альфа', 'Вектор', 'Заря', 'Лидер', 'Мир', 'Прогресс', 'Север', 'Союз'][luck % 8 + 1]
    || ' ' || i || '"'`,
  kpp: "left(company.inn, 4) || '01001'",
  okpo: "lpad(CAST(luck // 7 % 100000000 AS VARCHAR), 8, '0')",
}

/** One year's file, in bounded memory: DuckDB sorts the rest on disk. Returns its size in bytes. */
async function writeYear(options: Options, year: number): Promise<number> {
  const spillFolder = join(options.out, `${year}.tmp`)
  const settings = { memory_limit: '1GiB', temp_directory: spillFolder }
  try {
    using duckdb = await openDuckDb(settings)
    const { connection } = duckdb
    await connection.run(
      `CREATE TABLE sample AS SELECT *, row_number() OVER (ORDER BY inn) - 1 AS place
       FROM read_parquet('${join(options.sample, `${year}.parquet`)}')`,
    )
    await connection.run(`CREATE TABLE company AS ${companiesOf(options, year)}`)
    const path = join(options.out, `${year}.parquet`)
    const form = `, COMPRESSION ${options.codec}, ROW_GROUP_SIZE 122880`
    await writeParquet(duckdb, `${path}.part`, await rowsOf(connection), form)
    await rename(`${path}.part`, path)
    return (await stat(path)).size
  } finally {
    await rm(spillFolder, { recursive: true, force: true })
  }
}

/** The companies that filed in a year, by inn: region 01 to 97, then 8 digits. */
function companiesOf({ companies, seed }: Options, year: number): string {
  const step = 9_600_000_000 / companies
  return `
    SELECT i, lpad(CAST(CAST(100000000 + floor(i * ${step}) AS BIGINT) AS VARCHAR), 10, '0') AS inn,
      CAST(hash(i, ${seed}) >> 1 AS BIGINT) AS luck,
      pow(10, (hash(i, ${seed}, ${year}) % 1000000) / 250000.0 - 3.9) AS factor
    FROM range(${companies}) company(i)
    WHERE hash(i, ${seed}, ${year}, 'filed') % 100 < ${filedPercent}`
}

/**
 * A company's amounts are those of a company of the sample, times a factor of its own for the year:
 * numbers hardly repeat, and cells that are empty together stay so.
 */
async function rowsOf(connection: DuckDBConnection): Promise<string> {
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

async function generate(options: Options): Promise<void> {
  await mkdir(options.out, { recursive: true })
  const waiting = [...years]
  const work = async () => {
    for (let year = waiting.pop(); year !== undefined; year = waiting.pop()) {
      const startedMs = performance.now()
      const sizeBytes = await writeYear(options, year)
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      console.log(`${year}.parquet: ${(sizeBytes / 1e6).toFixed(0)} MB in ${seconds} s`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, work))
}

await runScript(command, generate)
