import { statSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { codesMax, codeWindowMs } from '../../src/control/mailed-codes/code-limits.js'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import { demand, eventually } from '../harness/fault.js'
import { makeFixture, makeFolder, serve, unlimited, writeRegistry } from '../harness/fixture.js'
import { send } from '../harness/http.js'
import type { Message, Target } from '../harness/http.js'
import { whole } from '../harness/options.js'
import { memoryOf } from '../harness/process.js'
import { countsText, factsText } from '../harness/report.js'
import type { Run } from '../harness/script.js'
import { formMessage, shopSettings } from './parts/visitors.js'
import { scenario } from './scenario.js'
import type { Facts, Given } from './scenario.js'

const memoryGrowthMax = 100e6
/** Beside what one hour of codes takes. */
const fileGrowthMax = 1e6
const clients = 8
/** Before memory is measured: the server's code is then compiled, and an hour's codes are stored. */
const warmUpForms = 3 * codesMax
/** The server tidies the shop every minute. */
const tidied = { withinMs: 300_000, everyMs: 1000 }
const floods = 2

const options = { forms: whole('forms in each of two floods', 20_000, 1, 10_000_000) }

const about = `Fills the forms of a shop on the built server, each time from another network and with another
address: orders, lost tokens, sign-ins, and codes that were never mailed. Checks that control.db holds no more
than an hour's codes and their letters, that all of them go after the hour, that the file does not
grow from one flood to the next, and that memory grows by ${memoryGrowthMax / 1e6} MB at most. The hour does not pass:
the stored times are moved back by it.`

/** What visitors without a verified address could leave behind, and how much. */
const nothing = { orders: 0, subscribers: 0, audit: 0, sessions: 0 }
const limits = { email_codes: codesMax, letters: codesMax, ...nothing }
type Rows = typeof limits

/** The form of a visitor: every one has another address. */
function messageOf(visitor: number): Message {
  const email = `visitor-${visitor}@example.org`
  const code = { id: 'a'.repeat(32), code: String(visitor).padStart(8, '0') }
  switch (visitor % 4) {
    case 0:
      return formMessage('/order', { plan: 'things:all', months: '1', email }, visitor)
    case 1:
      return formMessage('/lost-token', { email }, visitor)
    case 2:
      return formMessage('/sign-in', { email, next: '/' }, visitor)
    default:
      return formMessage(visitor % 8 === 3 ? '/order/code' : '/sign-in/code', code, visitor)
  }
}

async function startShop(run: Run) {
  const { cleanup } = run
  const fixture = await makeFixture(await makeFolder(run, 'check-forms'))
  using duckdb = await openDuckDb()
  const path = join(fixture.folder, 'data', 'things.parquet')
  await writeParquet(duckdb, path, 'SELECT i AS id FROM range(10) t(i)')
  const files = 'data/things.parquet'
  const things = { title: 'Things', files, listed: true, plans: { all: unlimited } }
  const shop = { free: true, paid: true, contact: 'owner@example.org', payment: '{order} {amount}' }
  await writeRegistry(fixture.folder, { things }, { shop })
  const { base, child } = await serve(fixture, cleanup, { settings: await shopSettings(cleanup) })
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  cleanup.add(async () => agent.destroy())
  const file = join(fixture.folder, 'state', 'control.db')
  const db = new Database(file)
  cleanup.add(async () => db.close())
  const state = () => {
    // The file has what was written once it is out of the log.
    db.pragma('wal_checkpoint(PASSIVE)')
    return { memory: memoryOf(child), file: statSync(file).size, rows: rowsIn(db) }
  }
  return { db, state, target: { base, agent, token: '' } }
}

/** Sends the forms of these visitors, some at a time; how many got which status. */
async function flood(target: Target, from: number, forms: number) {
  const statuses: Record<string, number> = {}
  let next = from
  const work = async () => {
    while (next < from + forms) {
      const { status } = await send(target, messageOf(next++))
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: clients }, work))
  return countsText(statuses)
}

function rowsIn(db: Database.Database): Rows {
  const counts = Object.keys(limits).map((name) => `(SELECT count(*) FROM ${name}) AS ${name}`)
  // One row, with a number for each name.
  return db.prepare(`SELECT ${counts.join()}`).get() as Rows
}

/** Lets the hour of all codes pass, and waits until the server has removed them. */
async function passHour(db: Database.Database): Promise<void> {
  db.prepare('UPDATE email_codes SET created_at = created_at - ?').run(codeWindowMs)
  await eventually('the codes of the hour are removed', tidied, () =>
    Promise.resolve(rowsIn(db).email_codes === 0 || undefined),
  )
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

async function check({ forms }: Given<typeof options>, run: Run): Promise<Facts> {
  const { db, state, target } = await startShop(run)
  await flood(target, 0, warmUpForms)
  await passHour(db)
  // The trail begins with the start of the server.
  const before = state()
  for (let number = 0; number < floods; number++) {
    const statuses = await flood(target, warmUpForms + number * forms, forms)
    const { rows, memory, file } = state()
    await passHour(db)
    const left = rowsIn(db)
    run.print(
      factsText([
        [`flood ${number + 1}`, `${forms} forms, answered ${statuses}`],
        ['rows', countsText(rows)],
        ['an hour later', countsText(left)],
        ['memory, file', `${megabytes(memory)}, ${megabytes(file)}`],
      ]),
    )
    for (const name of Object.keys(limits) as (keyof Rows)[]) {
      const more = rows[name] - before.rows[name]
      demand(more <= limits[name], `${more} more rows in ${name}`)
      demand(left[name] === before.rows[name], `${left[name]} rows are left in ${name}`)
    }
    demand(file - before.file <= fileGrowthMax, `control.db grew to ${megabytes(file)}`)
    demand(memory - before.memory <= memoryGrowthMax, `memory grew to ${megabytes(memory)}`)
  }
  return [['holds', 'the forms left nothing behind']]
}

/** `npm run check:forms`. */
export const forms = scenario({ name: 'forms', about, options, check })
