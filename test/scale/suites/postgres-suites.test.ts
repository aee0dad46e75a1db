import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { sqliteOnlyMark } from '../../support/database.js'
import { startPostgres } from '../fixtures/postgres.js'

// Guarantee: over PostgreSQL and DuckDB, REST, MCP, the shop, the sign-in and the access rules do
// what they do over SQLite and DuckDB: these tests run again, with the same expectations.

const files = [
  'access/account',
  'access/cursors',
  'access/damaged-store',
  'access/hidden',
  'access/not-found',
  'access/quotas',
  'access/rates',
  'access/scope',
  'access/tokens',
  'access/unavailable',
  'access/windows',
  'hostile/injection',
  'http/column-facts',
  'http/errors',
  'http/payment-hook',
  'http/sign-in/authorize',
  'http/sign-in/connection-letter',
  'http/sign-in/mailed-code',
  'http/sign-in/races',
  'http/sign-in/token',
  'io/access/concurrency',
  'io/http/export-route',
  'io/http/paced-export',
  'io/mcp/hang-up',
  'io/sign-in/connections-model',
  'mcp/aggregate',
  'mcp/arguments',
  'mcp/explained',
  'mcp/faults',
  'mcp/mcp-routes',
  'mcp/query-answer',
  'mcp/tools',
  'portal/account/connections',
  'portal/account/orders',
  'portal/account/reissue',
  'portal/shop/lost-token',
  'portal/shop/order',
  'service',
  'service/empty-answer',
  'service/summary-access',
  'shop/limits',
]

/** Files of the same folders that do not run again; a file that reads no records is not named. */
const leftOut: Readonly<Record<string, string>> = {
  'io/access/charge-queue': 'locks control.db; postgres-charges has the queue over PostgreSQL',
  'io/access/control-failures': 'breaks control.db; postgres-outage ends PostgreSQL instead',
  'io/access/orders-model': 'opens control.db as a killed process leaves it',
  'io/access/subscriptions-model': 'opens control.db as a killed process leaves it',
  'io/shop/killed': 'kills a server over control.db',
  'control, cli, io/control': 'the store itself: postgres-contract runs what both databases do',
  'engine, query, versions, …': 'read no records',
}

const folder = fileURLToPath(new URL('../../', import.meta.url))
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const atOnce = 2
/** They share two processors, so each may take longer than alone. */
const fileTimeoutSeconds = 200

interface Run {
  readonly code: number | null
  readonly output: string
}

const { url } = await startPostgres(t, ['max_connections=300'])

/** One file in a process of its own, which has the PostgreSQL. */
async function run(file: string): Promise<Run> {
  const path = `${folder}${file}.test.${extension}`
  const child = spawn(process.execPath, [...process.execArgv, path], {
    env: { ...process.env, DAS_TEST_POSTGRES: url, TAP_TIMEOUT: String(fileTimeoutSeconds) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  child.stderr.on('data', (part: Buffer) => parts.push(part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output: String(Buffer.concat(parts)) }
}

t.jobs = atOnce
const skipped: string[] = []
const runs = files.map((file) =>
  t.test(`${file} passes with PostgreSQL`, async (t) => {
    const { code, output } = await run(file)
    if (code !== 0) t.comment(output)
    t.equal(code, 0)
    for (const [, name, reason] of output.matchAll(/^ *ok \d+ - (.*) # SKIP (.*)$/gm)) {
      if (reason?.startsWith(sqliteOnlyMark)) skipped.push(`${file}: ${name}: ${reason}`)
    }
  }),
)
await Promise.all(runs)

await t.test('what is left out is named, with its reason', async (t) => {
  for (const line of skipped.sort()) t.comment(line)
  for (const [file, reason] of Object.entries(leftOut)) t.comment(`${file}: ${reason}`)
  t.ok(skipped.length >= 5)
})
