import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { demand } from '../harness/fault.js'
import { makeFixture, makeFolder, serve, subscribe, writeRegistry } from '../harness/fixture.js'
import type { Fixture, Sold } from '../harness/fixture.js'
import { whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import type { Server } from '../harness/process.js'
import { randomOf } from '../harness/random.js'
import type { Run } from '../harness/script.js'
import { sum } from '../harness/statistics.js'
import { readCharged } from './parts/ledger.js'
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
const dataset = 'rows'

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

/** A running server, and a subscription that no quota stops. */
interface Exporting extends Given<typeof options> {
  readonly fixture: Fixture
  readonly server: Server
  readonly sold: Sold
}

/** A line that is not a row. */
const Control = Type.Object({
  cursor: Type.Union([Type.String(), Type.Null()]),
  error: Type.Optional(Type.String()),
  complete: Type.Optional(Type.Boolean()),
  rows: Type.Optional(Type.Integer()),
})

/** Which part of an export is read, and how. */
interface Reading {
  /** The first row that is expected. */
  readonly first?: number
  readonly cursor?: string | null
  /** Breaks the connection when so many rows of this answer have come. */
  readonly breakAt?: number
  /** Reads no faster. */
  readonly rowsPerSecond?: number
  /** Is called once a row has come. */
  readonly onFirst?: () => void
}

/** Makes rows of 20 columns, `id` counting from 0, and serves them with the built server. */
async function start(given: Given<typeof options>, run: Run): Promise<Exporting> {
  const fixture = await makeFixture(await makeFolder(run, 'check-export'))
  const columns = [
    'i AS id',
    ...Array.from({ length: textColumns }, (_, at) => `md5('${at}' || i % 1000) AS t${at}`),
    ...Array.from({ length: numberColumns }, (_, at) => `hash(i + ${at}) % 1000000 AS n${at}`),
  ]
  const path = join(fixture.folder, 'data', 'rows.parquet')
  using duckdb = await openDuckDb()
  await writeParquet(duckdb, path, `SELECT ${columns.join()} FROM range(${given.rows}) t(i)`)
  const limit = { default: pageRows, max: pageRows }
  const entry = { ...entryOf({ name: dataset }), files: 'data/rows.parquet', limit }
  await writeRegistry(fixture.folder, { [dataset]: entry })
  const sold = await subscribe(fixture, [`${dataset}:all`])
  return { ...given, fixture, sold, server: await serve(fixture, run.cleanup) }
}

function open({ server, sold }: Exporting, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${sold.token}` }
  return new Promise((resolve, reject) => {
    const url = `${server.base}/v1/${dataset}${path}`
    get(url, { headers }, (answer) => {
      if (answer.statusCode === 200) resolve(answer)
      else reject(new Error(`${path} is answered with ${answer.statusCode}`))
    }).on('error', reject)
  })
}

/**
 * Reads an export to its end, or breaks the connection where the reading says: rows up to the last
 * control line, and that line; null where none came.
 *
 * @throws Fault when a row is missing, duplicated or out of order
 */
async function readExport(exporting: Exporting, reading: Reading) {
  const { first = 0, cursor = null, breakAt = Infinity, rowsPerSecond = Infinity } = reading
  const answer = await open(exporting, `/export${cursor === null ? '' : `?cursor=${cursor}`}`)
  const began = performance.now()
  let [rows, came] = [0, 0]
  let control: Type.Static<typeof Control> | null = null
  answer.on('error', () => undefined)
  for await (const line of createInterface({ input: answer })) {
    if (line.startsWith('{"cursor":')) {
      control = Value.Parse(Control, JSON.parse(line))
      rows = came
      continue
    }
    const due = `{"id":${first + came},`
    demand(line.startsWith(due), `expected ${due} and got ${line.slice(0, 60)}`)
    came += 1
    if (came === 1) reading.onFirst?.()
    if (came >= breakAt) {
      answer.destroy()
      break
    }
    const aheadMs = (came / rowsPerSecond) * 1000 - (performance.now() - began)
    if (aheadMs > 100) await sleep(aheadMs)
  }
  return { rows, control }
}

/** Reads everything once, page by page, like a client that does not export. */
async function walkPages(exporting: Exporting): Promise<void> {
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const answer = await open(exporting, `?format=ndjson${cursor && `&cursor=${cursor}`}`)
    for await (const chunk of answer) void chunk
    cursor = answer.headers['x-next-cursor']?.toString()
  }
}

async function checkMemory(exporting: Exporting): Promise<Facts> {
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
  const { child } = exporting.server
  const startBytes = memoryOf(child)
  await walkPages(exporting)
  await sleep(1000)
  const idleBytes = memoryOf(child)
  const samples: number[] = []
  const sampling = setInterval(() => samples.push(memoryOf(child)), 1000)
  const { control } = await readExport(exporting, { rowsPerSecond: slowRowsPerSecond })
  clearInterval(sampling)
  const isWhole = control?.complete === true && control.rows === exporting.rows
  demand(isWhole, 'the slow export is not complete')
  const aboveIdle = Math.max(...samples) - idleBytes
  demand(aboveIdle <= aboveIdleMax, `${megabytes(aboveIdle)} above idle`)
  return [
    ['memory', `${megabytes(startBytes)} at the start, ${megabytes(idleBytes)} after the pages`],
    ['slow client', `at most ${megabytes(aboveIdle)} above idle in ${samples.length} samples`],
  ]
}

async function checkBreaks(exporting: Exporting): Promise<Facts> {
  const { rows, breaks, seed, fixture } = exporting
  const random = randomOf(seed, 0)
  const places = Array.from({ length: breaks }, () => random.whole(1, rows - 1))
  places.sort((a, b) => a - b)
  const charged = () => sum(readCharged(fixture.folder).map((each) => each.rows))
  const before = charged()
  let [first, cursor, broken] = [0, null as string | null, 0]
  for (;;) {
    const place = places[broken]
    const breakAt = place === undefined ? Infinity : Math.max(1, place - first)
    const { rows: read, control } = await readExport(exporting, { first, cursor, breakAt })
    first += read
    if (control?.complete) {
      demand(control.rows === read, 'the last line has a wrong number of rows')
      break
    }
    demand(control?.error === undefined, `the export ended with ${control?.error}`)
    cursor = control?.cursor ?? cursor
    broken += 1
  }
  const extra = charged() - before - rows
  demand(first === rows && broken === breaks, `${first} rows of ${rows}, ${broken} breaks`)
  const extraMax = breaks * (1 + bufferedPages) * pageRows
  demand(extra >= 0, `${-extra} rows were not charged`)
  demand(extra <= extraMax, 'more was charged twice at a break than a page and what buffers hold')
  return [
    ['broken', `${broken} times; every row once and in order`],
    ['charged', `${rows} rows, and ${extra} twice`],
  ]
}

async function checkStop(exporting: Exporting): Promise<Facts> {
  const begun = Promise.withResolvers<void>()
  const reading = { rowsPerSecond: slowRowsPerSecond, onFirst: () => begun.resolve() }
  const result = readExport(exporting, reading)
  await Promise.race([begun.promise, result])
  void exporting.server.end('SIGTERM')
  const { control, rows } = await result
  const last = JSON.stringify(control)
  demand(control?.complete !== true, 'the export ended before the stop; give more --rows')
  const isRight = control?.error === 'service_unavailable' && control.cursor !== null
  demand(isRight, `a stop must end an export with its cursor, got ${last}`)
  return [['stop', `after ${rows} rows: ${last}`]]
}

async function check(given: Given<typeof options>, run: Run): Promise<Facts> {
  const exporting = await start(given, run)
  const memory = await checkMemory(exporting)
  run.update('breaking connections')
  const breaks = await checkBreaks(exporting)
  return [...memory, ...breaks, ...(await checkStop(exporting))]
}

/** `npm run check:export`. */
export const exportRows = scenario({ name: 'export', about, options, check })
