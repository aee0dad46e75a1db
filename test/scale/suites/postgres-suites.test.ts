import t from 'tap'
import { startPostgres } from '../fixtures/postgres.js'
import { runSuites } from '../fixtures/suites.js'

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
  'sales/account-connections',
  'sales/account-orders',
  'sales/account-reissue',
  'sales/orders/change-price',
  'sales/orders/limits',
  'sales/orders/routes/lost-token',
  'sales/orders/routes/order',
  'sales/owner/owner',
  'sales/owner/reports',
  'sales/sessions/sessions',
  'service',
  'service/empty-answer',
  'service/summary-access',
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

const { url } = await startPostgres(t, ['max_connections=300'])
const env = { DAS_TEST_POSTGRES: url }
await runSuites(t, {
  over: 'PostgreSQL',
  env,
  files,
  leftOut,
  skippedMin: 5,
  // A model of hundreds of lives takes minutes on busy processors.
  fileTimeoutSeconds: 900,
})
