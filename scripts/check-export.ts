import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomOf } from './harness/random.js'
import { openHouse, pageRows } from './check-export/export-fixture.js'
import type { House } from './check-export/export-fixture.js'
import { chargedRows, readExport, walkPages } from './check-export/read-export.js'
import { readFlags, wholeNumber } from './harness/options.js'
import { runScript } from './harness/script.js'
import { Ends } from './harness/cleanup.js'

const help = `Usage: npm run check:export -- [options]

Exports a generated dataset of 20 columns from the built server, and checks
  1  that memory stays flat while a slow reader takes it (150 MB above idle at most, where idle is
     after the same rows were read once page by page: what the engine keeps of files is in it)
  2  that an export broken at random places and resumed by cursor brings every row once and in
     order, and charges at most one page more for each break
  3  that a server which is told to stop ends an export with a line that names its cursor

  --rows N    rows (default 1000000)
  --breaks N  broken connections (default 10)
  --seed N    repeats a run's places (default: any)
  --help      this text
`

const rowsMax = 100_000_000
const breaksMax = 1000
const seedMax = 2 ** 32 - 1
const aboveIdleMax = 150e6
/** What a slow reader takes: some half of what the server can send. */
const slowRowsPerSecond = 15_000

interface Options {
  readonly rows: number
  readonly breaks: number
  readonly seed: number
}

function say(words: string): void {
  process.stdout.write(`${words}\n`)
}

function demand(isSo: boolean, words: string): void {
  if (!isSo) throw new Error(words)
}

function rssOf({ server }: House): number {
  const text = readFileSync(`/proc/${server.child.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) * 1024
}

async function checkMemory(house: House, { rows }: Options): Promise<void> {
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
  const start = rssOf(house)
  const beganMs = performance.now()
  await walkPages(house)
  const walkMs = performance.now() - beganMs
  await sleep(1000)
  const idle = rssOf(house)
  const seen: number[] = []
  const looking = setInterval(() => seen.push(rssOf(house)), 1000)
  const manner = { first: 0, cursor: null, rowsPerSecond: slowRowsPerSecond }
  const { control } = await readExport(house, manner)
  clearInterval(looking)
  demand(control?.complete === true && control.rows === rows, 'the slow export is not whole')
  const most = Math.max(...seen)
  say(`pages          ${rows} rows in ${(walkMs / 1000).toFixed(1)} s`)
  say(`memory         ${megabytes(start)} at the start, ${megabytes(idle)} idle after the pages`)
  say(`slow reader    at most ${megabytes(most - idle)} above idle, looked ${seen.length} times`)
  demand(most - idle <= aboveIdleMax, `more than ${megabytes(aboveIdleMax)} above idle`)
}

async function checkBreaks(house: House, { rows, breaks, seed }: Options): Promise<void> {
  const random = randomOf(seed, 0)
  const places = Array.from({ length: breaks }, () => random.whole(1, rows - 1)).sort(
    (a, b) => a - b,
  )
  const before = await chargedRows(house)
  const beganMs = performance.now()
  let [first, cursor, broken] = [0, null as string | null, 0]
  for (;;) {
    const place = places[broken]
    const breakAt = place === undefined ? Infinity : Math.max(1, place - first)
    const reading = await readExport(house, { first, cursor, breakAt })
    first += reading.rows
    if (reading.control?.complete) {
      demand(reading.control.rows === reading.rows, 'the last line miscounts')
      break
    }
    demand(reading.control?.error === undefined, `it ended with ${reading.control?.error}`)
    cursor = reading.control?.cursor ?? cursor
    broken += 1
  }
  const seconds = (performance.now() - beganMs) / 1000
  const extra = (await chargedRows(house)) - before - rows
  say(`broken         ${broken} times in ${seconds.toFixed(1)} s; every row once and in order`)
  say(
    `charged        ${rows} rows and ${extra} twice, ${(extra / pageRows / breaks).toFixed(2)} pages a break`,
  )
  demand(first === rows && broken === breaks, `${first} rows of ${rows}, ${broken} breaks`)
  demand(extra <= breaks * pageRows, 'more than a page was paid twice a break')
}

async function checkStop(house: House): Promise<void> {
  const manner = { first: 0, cursor: null, rowsPerSecond: slowRowsPerSecond }
  const reading = readExport(house, manner)
  await sleep(500)
  house.server.child.kill('SIGTERM')
  const { control, rows } = await reading
  say(`stop           after ${rows} rows: ${JSON.stringify(control)}`)
  const isTold = control?.error === 'service_unavailable' && control.cursor !== null
  demand(isTold, 'a stop must end an export with its cursor')
}

async function run(options: Options): Promise<void> {
  const ends = new Ends()
  process.once('SIGINT', () => {
    void ends.closeAll().then(() => process.exit(1))
  })
  try {
    const house = await openHouse(options.rows, ends)
    say(`seed           ${options.seed}`)
    await checkMemory(house, options)
    await checkBreaks(house, options)
    await checkStop(house)
    say('an export is whole or says where it ended')
  } finally {
    await ends.closeAll()
  }
}

function readOptions(): Options | null {
  const values = readFlags(process.argv.slice(2), {
    rows: { type: 'string', default: '1000000' },
    breaks: { type: 'string', default: '10' },
    seed: { type: 'string' },
    help: { type: 'boolean' },
  })
  if (values.help) return null
  return {
    rows: wholeNumber('--rows', values.rows, 2, rowsMax),
    breaks: wholeNumber('--breaks', values.breaks, 0, breaksMax),
    seed: wholeNumber('--seed', values.seed ?? String(randomInt(seedMax)), 0, seedMax),
  }
}

await runScript('check-export', async () => {
  const options = readOptions()
  if (options) await run(options)
  else process.stdout.write(help)
})
