import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { bindText, bindTexts } from '../../src/engine/duckdb/bind.js'
import { pathsSql } from '../../src/engine/duckdb/paths.js'
import { openDuckDb, Statements } from '../harness/duckdb.js'
import { randomOf } from '../harness/random.js'
import { markdownTable } from '../harness/report.js'
import { median } from '../harness/statistics.js'

/** A way to store each different text of the column `name` once. */
interface TextForm {
  readonly title: string
  /** What leads from a text to its rows. */
  readonly rows: string
  readonly order: string
  readonly options: string
}

const folded = "replace(lower(name), 'ё', 'е')"
const lz4 = 'COMPRESSION lz4_raw, PARQUET_VERSION V2'
const forms: readonly TextForm[] = [
  { title: 'by text, inn', rows: 'list(DISTINCT inn)', order: 'text', options: lz4 },
  {
    title: 'by text, inn, zstd',
    rows: 'list(DISTINCT inn)',
    order: 'text',
    options: 'COMPRESSION zstd, PARQUET_VERSION V2',
  },
  { title: 'by first row, inn', rows: 'list(DISTINCT inn)', order: 'min(row)', options: lz4 },
  { title: 'by first row, row numbers', rows: 'list(row)', order: 'min(row)', options: lz4 },
]

const searches: readonly (readonly [title: string, sql: string])[] = [
  ['all texts with a rare text', `SELECT count(*) FROM (SELECT text $from)`],
  ['first 20 with a rare text', `SELECT inns FROM (SELECT text, inns $from LIMIT 20)`],
  ['first 20 with a frequent word', `SELECT inns FROM (SELECT text, inns $from LIMIT 20)`],
]
const threads = '2'
const groupRows = 122_880

/**
 * Measures side files of the different names of packed files, folded to small letters without ё:
 * how large they are, how long they take to make, and to search. Returns a table.
 */
export async function measureTexts(
  packed: readonly string[],
  folder: string,
  rounds: number,
  update: (words: string) => void,
): Promise<string> {
  const rows: string[][] = []
  for (const [at, form] of forms.entries()) {
    update(`texts ${form.title}`)
    const path = join(folder, `texts-${at}.parquet`)
    const seconds = await writeTexts(packed, form, path, folder)
    const megabytes = (await stat(path)).size / 1e6
    rows.push([
      form.title,
      megabytes.toFixed(0),
      seconds.map((each) => each.toFixed(1)).join(' / '),
      ...(await searchTexts(path, rounds)),
    ])
    await rm(path)
  }
  const titles = searches.map(([title]) => `${title}: ms / CPU ms`)
  return markdownTable(['side file', 'MB', 'made in s / CPU s', ...titles], rows)
}

async function writeTexts(
  packed: readonly string[],
  { rows, order, options }: TextForm,
  path: string,
  folder: string,
): Promise<readonly number[]> {
  const settings = { threads, memory_limit: '3GB', temp_directory: join(folder, 'tmp') }
  using duckdb = await openDuckDb(settings)
  const [startedMs, before] = [performance.now(), process.cpuUsage()]
  const source = `SELECT name, inn, file_index * 20480 + file_row_number AS row
    FROM read_parquet(${pathsSql(packed)}) WHERE name IS NOT NULL`
  const texts = `SELECT ${folded} AS text, ${rows} AS inns FROM (${source}) GROUP BY text`
  await duckdb.connection.run(`COPY (${texts} ORDER BY ${order}) TO '${path}'
    (FORMAT parquet, ${options}, ROW_GROUP_SIZE ${groupRows})`)
  const { user, system } = process.cpuUsage(before)
  return [(performance.now() - startedMs) / 1000, (user + system) / 1e6]
}

async function searchTexts(path: string, rounds: number): Promise<readonly string[]> {
  using duckdb = await openDuckDb({ threads })
  const statements = new Statements(duckdb.connection)
  const cells: string[] = []
  for (const [at, [, sql]] of searches.entries()) {
    const times: number[] = []
    const cpuTimes: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const number = randomOf(at, round).whole(1000, 9999)
      const word = at === 2 ? 'север' : `север ${number}`
      const from = 'FROM read_parquet($1::VARCHAR[]) WHERE contains(text, $2)'
      const [startedMs, before] = [performance.now(), process.cpuUsage()]
      await statements.run(sql.replace('$from', from), [bindTexts([path]), bindText(word)])
      const { user, system } = process.cpuUsage(before)
      times.push(performance.now() - startedMs)
      cpuTimes.push((user + system) / 1000)
    }
    cells.push(`${median(times).toFixed(0)} / ${median(cpuTimes).toFixed(0)}`)
  }
  return cells
}
