import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { makeFixture, makeFolder, serve, subscribe, writeRegistry } from '../harness/fixture.js'
import { whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import { randomOf } from '../harness/random.js'
import type { Run } from '../harness/script.js'
import { chargedRows, dataset, readExport, walkPages } from './export-reader.js'
import type { ExportFixture } from './export-reader.js'
import { entryOf } from './parts/tables.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const aboveIdleMax = 150e6
/** What a slow reader takes: about half of what the server can send. */
const slowRowsPerSecond = 15_000

/** Rows of a page, which is also what an export reads at a time. */
const pageRows = 1000
/** The buffers of the operating system hold so many pages: 10 MB. */
const bufferedPages = 20
const textColumns = 8
const numberColumns = 11

const options = {
  rows: whole('rows', 1_000_000, 2, 100_000_000),
  breaks: whole('broken connections', 10, 0, 1000),
}

const about = `Exports a generated dataset of 20 columns from the built server, and checks
  1  that memory stays flat while a slow client reads the export: ${aboveIdleMax / 1e6} MB above idle at most,
     where idle is measured after the same rows were read page by page, and so includes what the
     engine keeps of files
  2  that an export broken at random places and resumed by cursor brings every row once and in
     order, and charges at most one more page for each break, and what the buffers of the operating
     system hold (${bufferedPages} pages)
  3  that a server which is stopped ends an export with a line that names its cursor`

/** Makes so many rows of 20 columns, `id` counting from 0, and serves them with the built server. */
async function startFixture(rows: number, run: Run): Promise<ExportFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-export'))
  const columns = [
    'i AS id',
    ...Array.from({ length: textColumns }, (_, at) => `md5('${at}' || i % 1000) AS t${at}`),
    ...Array.from({ length: numberColumns }, (_, at) => `hash(i + ${at}) % 1000000 AS n${at}`),
  ]
  const path = join(fixture.folder, 'data', 'rows.parquet')
  using duckdb = await openDuckDb()
  await writeParquet(duckdb, path, `SELECT ${columns.join()} FROM range(${rows}) t(i)`)
  const limit = { default: pageRows, max: pageRows }
  const entry = { ...entryOf({ name: dataset }), files: 'data/rows.parquet', limit }
  await writeRegistry(fixture.folder, { [dataset]: entry })
  const { token } = await subscribe(fixture, [`${dataset}:all`])
  return { server: await serve(fixture, run.cleanup), token }
}

function demand(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise)
}

async function checkMemory(
  fixture: ExportFixture,
  { rows }: Given<typeof options>,
): Promise<Facts> {
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
  const { child } = fixture.server
  const startBytes = memoryOf(child)
  const startedMs = performance.now()
  await walkPages(fixture)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  await sleep(1000)
  const idleBytes = memoryOf(child)
  const samples: number[] = []
  const sampling = setInterval(() => samples.push(memoryOf(child)), 1000)
  const reading = { first: 0, cursor: null, rowsPerSecond: slowRowsPerSecond }
  const { control } = await readExport(fixture, reading)
  clearInterval(sampling)
  demand(control?.complete === true && control.rows === rows, 'the slow export is not complete')
  const aboveIdle = Math.max(...samples) - idleBytes
  demand(aboveIdle <= aboveIdleMax, `${megabytes(aboveIdle)} above idle`)
  return [
    ['pages', `${rows} rows in ${seconds} s`],
    ['memory', `${megabytes(startBytes)} at the start, ${megabytes(idleBytes)} after the pages`],
    ['slow client', `at most ${megabytes(aboveIdle)} above idle in ${samples.length} samples`],
  ]
}

async function checkBreaks(fixture: ExportFixture, given: Given<typeof options>): Promise<Facts> {
  const { rows, breaks, seed } = given
  const random = randomOf(seed, 0)
  const places = Array.from({ length: breaks }, () => random.whole(1, rows - 1))
  places.sort((a, b) => a - b)
  const before = await chargedRows(fixture)
  const startedMs = performance.now()
  let [first, cursor, broken] = [0, null as string | null, 0]
  for (;;) {
    const place = places[broken]
    const breakAt = place === undefined ? Infinity : Math.max(1, place - first)
    const { rows: read, control } = await readExport(fixture, { first, cursor, breakAt })
    first += read
    if (control?.complete) {
      demand(control.rows === read, 'the last line has a wrong number of rows')
      break
    }
    demand(control?.error === undefined, `the export ended with ${control?.error}`)
    cursor = control?.cursor ?? cursor
    broken += 1
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  const extra = (await chargedRows(fixture)) - before - rows
  demand(first === rows && broken === breaks, `${first} rows of ${rows}, ${broken} breaks`)
  const extraMax = breaks * (1 + bufferedPages) * pageRows
  demand(extra <= extraMax, 'more was charged twice at a break than a page and what buffers hold')
  const pages = breaks === 0 ? '' : `, ${(extra / pageRows / breaks).toFixed(2)} pages a break`
  return [
    ['broken', `${broken} times in ${seconds} s; every row once and in order`],
    ['charged', `${rows} rows, and ${extra} twice${pages}`],
  ]
}

async function checkStop(fixture: ExportFixture): Promise<Facts> {
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const slowReading = { first: 0, cursor: null, rowsPerSecond: slowRowsPerSecond }
  const result = readExport(fixture, { ...slowReading, onFirst: () => begin() })
  await Promise.race([begun, result])
  void fixture.server.end('SIGTERM')
  const { control, rows } = await result
  const last = JSON.stringify(control)
  demand(control?.complete !== true, 'the export ended before the stop; give more --rows')
  const isRight = control?.error === 'service_unavailable' && control.cursor !== null
  demand(isRight, `a stop must end an export with its cursor, got ${last}`)
  return [['stop', `after ${rows} rows: ${last}`]]
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const fixture = await startFixture(given.rows, run)
  const memory = await checkMemory(fixture, given)
  run.update('breaking connections')
  const breaks = await checkBreaks(fixture, given)
  return [...memory, ...breaks, ...(await checkStop(fixture))]
}

/** `npm run check:export`. */
export const exportRows = scenario({ name: 'export', about, options, check })
