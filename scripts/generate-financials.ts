import { DuckDBInstance } from '@duckdb/node-api'
import type { DuckDBConnection } from '@duckdb/node-api'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { readFlags, UsageError, wholeNumber } from './harness/options.js'
import { runScript } from './harness/script.js'

const help = `Usage: tsx scripts/generate-financials.ts --companies N --out FOLDER [options]

Accounts of any number of companies, made up from the shipped sample: a file a year as a provider
would drop them, sorted by inn, with the sample's columns, types and empty values. A company has
most of the years, so 2,250,000 companies make about 15 million rows. The same seed and the same
DuckDB release give the same rows.

  --companies N   how many companies
  --out F         where the files are written: 2019.parquet, 2020.parquet…
  --sample F      the files to take columns and values from; data/financials
  --seed N        another seed, other companies; 1
  --codec C       snappy, zstd, lz4_raw…; snappy
  --help          this text
`

const flags = {
  companies: { type: 'string' },
  out: { type: 'string' },
  sample: { type: 'string', default: 'data/financials' },
  seed: { type: 'string', default: '1' },
  codec: { type: 'string', default: 'snappy' },
  help: { type: 'boolean', default: false },
} as const

const companiesMax = 100_000_000
const seedMax = 2 ** 32 - 1
const years = [2019, 2020, 2021, 2022, 2023, 2024, 2025]
/** Of 100 companies so many have filed in a year. */
const filedPercent = 95
/** Of one row's texts, which the sample would repeat for thousands of companies. */
const texts: Readonly<Record<string, string>> = {
  inn: 'company.inn',
  name: `'Общество с ограниченной ответственностью "' ||
    ['Альфа', 'Вектор', 'Заря', 'Лидер', 'Мир', 'Прогресс', 'Север', 'Союз'][luck % 8 + 1]
    || ' ' || i || '"'`,
  kpp: "left(company.inn, 4) || '01001'",
  okpo: "lpad(CAST(luck // 7 % 100000000 AS VARCHAR), 8, '0')",
}

interface Order {
  readonly companies: number
  readonly out: string
  readonly sample: string
  readonly seed: number
  readonly codec: string
}

/** One year's file, in bounded memory: what does not fit is sorted on the disk. */
async function writeYear(order: Order, year: number): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: '1GiB',
    temp_directory: join(order.out, `${year}.tmp`),
  })
  const connection = await instance.connect()
  try {
    await connection.run(
      `CREATE TABLE sample AS SELECT *, row_number() OVER (ORDER BY inn) - 1 AS place
       FROM read_parquet('${join(order.sample, `${year}.parquet`)}')`,
    )
    await connection.run(`CREATE TABLE company AS ${companiesOf(order, year)}`)
    const path = join(order.out, `${year}.parquet`)
    await connection.run(
      `COPY (${await rowsOf(connection)}) TO '${path}.part'
       (FORMAT parquet, COMPRESSION ${order.codec}, ROW_GROUP_SIZE 122880)`,
    )
    await rename(`${path}.part`, path)
    return (await stat(path)).size
  } finally {
    connection.disconnectSync()
    instance.closeSync()
    await rm(join(order.out, `${year}.tmp`), { recursive: true, force: true })
  }
}

/** Those that filed in a year, by inn: region 01 to 97, then 8 digits. */
function companiesOf({ companies, seed }: Order, year: number): string {
  const step = 9_600_000_000 / companies
  return `
    SELECT i, lpad(CAST(CAST(100000000 + floor(i * ${step}) AS BIGINT) AS VARCHAR), 10, '0') AS inn,
      CAST(hash(i, ${seed}) >> 1 AS BIGINT) AS luck,
      pow(10, (hash(i, ${seed}, ${year}) % 1000000) / 250000.0 - 3.9) AS factor
    FROM range(${companies}) company(i)
    WHERE hash(i, ${seed}, ${year}, 'filed') % 100 < ${filedPercent}`
}

/**
 * A company's amounts are those of a company of the sample, times a factor of its own and of the
 * year: hardly a number stands twice, and what is empty together stays so.
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

async function generate(order: Order): Promise<void> {
  await mkdir(order.out, { recursive: true })
  const waiting = [...years]
  const work = async () => {
    for (let year = waiting.pop(); year !== undefined; year = waiting.pop()) {
      const startedMs = performance.now()
      const sizeBytes = await writeYear(order, year)
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      console.log(`${year}.parquet: ${(sizeBytes / 1e6).toFixed(0)} MB in ${seconds} s`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, work))
}

async function run(): Promise<void> {
  const values = readFlags(process.argv.slice(2), flags)
  if (values.help) return console.log(help)
  if (values.companies === undefined || values.out === undefined) {
    throw new UsageError('--companies and --out are needed; --help tells more')
  }
  await generate({
    companies: wholeNumber('--companies', values.companies, 1, companiesMax),
    out: resolve(values.out),
    sample: resolve(values.sample),
    seed: wholeNumber('--seed', values.seed, 0, seedMax),
    codec: values.codec,
  })
}

await runScript('generate-financials', run)
