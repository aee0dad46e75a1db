import { statSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { codesMax, codeWindowMs } from '../src/control/mailed-codes/code-limits.js'
import { SqliteStore } from '../src/control/store/sqlite-store.js'
import type { ControlStore } from '../src/control/store/store.js'
import { openDuckDb, writeParquet } from './harness/duckdb.js'
import {
  bareEnvironment,
  makeFixture,
  makeFolder,
  requireBuild,
  serve,
  unlimited,
  writeRegistry,
} from './harness/fixture.js'
import type { Fixture } from './harness/fixture.js'
import { send } from './harness/http.js'
import type { Message, Target } from './harness/http.js'
import { startMailSink } from './harness/mail-sink.js'
import { whole } from './harness/options.js'
import { memoryOf } from './harness/process.js'
import { count, factsText } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { eventually } from './harness/wait.js'
import { machine } from '../test/support/machine.js'

const memoryGrowthMax = 100e6
/** Beside what one hour of codes takes. */
const fileGrowthMax = 1e6
const clients = 8
/** Before memory is measured: the server's code is then compiled, and an hour's codes are stored. */
const warmUpForms = 3 * codesMax
/** The server tidies the shop every minute. */
const tidied = { withinMs: 300_000, everyMs: 1000 }

const command = {
  name: 'check-forms',
  usage: 'npm run check:forms --',
  about: `Fills the forms of a shop on the built server, each time from another network and with another
address: orders, lost tokens, and codes that were never mailed. Checks that control.db holds no more
than an hour's codes and their letters, that all of them go after the hour, that the file does not
grow from one flood to the next, and that memory grows by ${memoryGrowthMax / 1e6} MB at most. The hour does not pass:
the stored times are moved back by it.`,
  options: { forms: whole('forms in each of two floods', 20_000, 1, 10_000_000) },
}

/** What visitors without a verified address could leave behind. */
const tables = ['email_codes', 'letters', 'orders', 'subscribers', 'audit'] as const
type Rows = Readonly<Record<(typeof tables)[number], number>>
const limits: Rows = {
  email_codes: codesMax,
  letters: codesMax,
  orders: 0,
  subscribers: 0,
  audit: 0,
}

class Visitors {
  readonly #target: Target
  #sent = 0

  constructor(target: Target) {
    this.#target = target
  }

  /** Sends so many forms, some at a time; how many got which status. */
  async flood(forms: number): Promise<ReadonlyMap<number, number>> {
    const statuses = new Map<number, number>()
    const end = this.#sent + forms
    const work = async () => {
      while (this.#sent < end) {
        const { status } = await send(this.#target, messageOf(this.#sent++))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: clients }, work))
    return statuses
  }
}

/** The form of a visitor: every one has another address, and comes from another network. */
function messageOf(visitor: number): Message {
  const email = `visitor-${visitor}@example.org`
  const [path, fields] = (
    [
      ['/order', { plan: 'things:all', months: '1', email }],
      ['/lost-token', { email }],
      ['/order/code', { id: 'a'.repeat(32), code: String(visitor).padStart(8, '0') }],
    ] as const
  )[visitor % 3] ?? ['/lost-token', { email }]
  return {
    method: 'POST',
    path,
    body: new URLSearchParams(fields).toString(),
    type: 'application/x-www-form-urlencoded',
    headers: {
      accept: 'text/html',
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': `${10 + (visitor >> 16)}.${(visitor >> 8) & 255}.${visitor & 255}.1`,
    },
  }
}

async function startShop(run: Run) {
  const fixture = await makeFixture(await makeFolder(run, 'check-forms'))
  {
    using duckdb = await openDuckDb()
    const path = join(fixture.folder, 'data', 'things.parquet')
    await writeParquet(duckdb, path, 'SELECT i AS id FROM range(10) t(i)')
  }
  const things = { title: 'Things', files: 'data/things.parquet', listed: true }
  const shop = { free: true, paid: true, contact: 'owner@example.org', payment: '{order} {amount}' }
  await writeRegistry(
    fixture.folder,
    { things: { ...things, plans: { all: unlimited } } },
    { shop },
  )
  const env = {
    ...bareEnvironment(),
    DAS_SMTP_URL: await startMailSink(run.cleanup),
    DAS_MAIL_FROM: 'data@example.org',
    DAS_TRUST_PROXY: '127.0.0.1',
  }
  const { base, child } = await serve(fixture, run.cleanup, { env })
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  run.cleanup.add(async () => agent.destroy())
  const store = SqliteStore.open(databaseOf(fixture), machine)
  run.cleanup.add(async () => store.close())
  return { fixture, child, store, visitors: new Visitors({ base, agent, token: '' }) }
}

function databaseOf({ folder }: Fixture): string {
  return join(folder, 'state', 'control.db')
}

async function rowsIn(store: ControlStore): Promise<Rows> {
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`)
  const [rows] = await store.all<Rows>(`SELECT ${counts.join()}`)
  if (rows === undefined) throw new Error('no counts')
  return rows
}

/** Of the file once all that was written is in it. */
function databaseBytes(fixture: Fixture, store: SqliteStore): number {
  store.file.db.pragma('wal_checkpoint(PASSIVE)')
  return statSync(databaseOf(fixture)).size
}

/** Lets the hour of all codes pass, and waits until the server has removed them. */
async function passHour(store: ControlStore): Promise<void> {
  await store.write((tx) =>
    tx.run('UPDATE email_codes SET created_at = created_at - @ms', { ms: codeWindowMs }),
  )
  await eventually('the codes of the hour are removed', tidied, async () =>
    (await rowsIn(store)).email_codes === 0 ? true : undefined,
  )
}

function demand(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise)
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const listed = (counts: Iterable<readonly [string | number, number]>) =>
  [...counts].map(([name, value]) => `${name} ${count(value)}`).join(', ')

await runScript(command, async ({ forms }, run) => {
  requireBuild()
  const { fixture, child, store, visitors } = await startShop(run)
  const memoryStart = memoryOf(child)
  await visitors.flood(warmUpForms)
  await passHour(store)
  // The trail begins with the start of the server.
  const before = {
    memory: memoryOf(child),
    file: databaseBytes(fixture, store),
    rows: await rowsIn(store),
  }
  run.print(
    factsText([
      ['memory', `${megabytes(memoryStart)} at the start`],
      [
        `after ${count(warmUpForms)}`,
        `${megabytes(before.memory)}, control.db ${megabytes(before.file)}`,
      ],
      ['rows', listed(Object.entries(before.rows))],
    ]),
  )
  for (const flood of [1, 2]) {
    const startedMs = performance.now()
    const statuses = await visitors.flood(forms)
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
    const rows = await rowsIn(store)
    const [memory, file] = [memoryOf(child), databaseBytes(fixture, store)]
    await passHour(store)
    const left = await rowsIn(store)
    run.print(
      factsText([
        [`flood ${flood}`, `${count(forms)} forms in ${seconds} s; answers: ${listed(statuses)}`],
        ['rows', listed(Object.entries(rows))],
        ['an hour later', listed(Object.entries(left))],
        ['control.db', megabytes(file)],
        ['memory', megabytes(memory)],
      ]),
    )
    for (const table of tables) {
      const more = rows[table] - before.rows[table]
      demand(more <= limits[table], `${more} more rows in ${table}`)
      demand(left[table] === before.rows[table], `${left[table]} rows are left in ${table}`)
    }
    demand(file - before.file <= fileGrowthMax, `control.db grew to ${megabytes(file)}`)
    demand(memory - before.memory <= memoryGrowthMax, `memory grew to ${megabytes(memory)}`)
  }
  run.print('the forms left nothing behind\n')
})
