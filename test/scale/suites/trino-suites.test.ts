import t from 'tap'
import { startPostgres } from '../fixtures/postgres.js'
import { runSuites } from '../fixtures/suites.js'
import { startTrino } from '../fixtures/trino.js'

// Guarantee: over PostgreSQL and Trino, REST, MCP and the access rules do what they do over SQLite
// and DuckDB: these tests run again, with the same expectations. Rows are in the order of the
// declared key, which in these tests is the order of the files.

const files = [
  'access/account',
  'access/cursors',
  'access/hidden',
  'access/not-found',
  'access/quotas',
  'access/rates',
  'access/scope',
  'access/tokens',
  'access/windows',
  'hostile/injection',
  'hostile/names',
  'http/aggregate',
  'http/column-facts',
  'http/conditional',
  'http/decimals',
  'http/errors',
  'http/formats',
  'http/grammar',
  'http/top',
  'http/values',
  'io/access/concurrency',
  'io/http/export-route',
  'mcp/aggregate',
  'mcp/arguments',
  'mcp/explained',
  'mcp/faults',
  'mcp/mcp-routes',
  'mcp/mistakes',
  'mcp/parity',
  'mcp/prompts',
  'mcp/query-answer',
  'mcp/resources',
  'mcp/tools',
  'service',
  'service/summary-access',
]

/** Files of the same folders that do not run again; a file that reads no rows is not named. */
const leftOut: Readonly<Record<string, string>> = {
  'access/damaged-store': 'damages control.db',
  'access/unavailable': 'damages files; trino.test.ts stops Trino instead',
  'http/carriers, golden-facts': "read the repository's own files; same-answers.ts compares rows",
  'http/parquet-pages, spreadsheets': 'ask for Parquet, or for sheets that are made of it',
  'http/zoned-times': 'TIME WITH TIME ZONE of Trino is a text: docs/scale.md',
  'hostile/bytes, hostile/sizes, http/cors, http/openapi': 'the text of requests: no row is read',
  'portal, shop, http/sign-in, http/payment-hook': 'the records alone: postgres-suites has them',
  'http/compression, io/http/request-log': 'bytes and log lines, which no engine makes',
  'io/http/paced-export': 'counts pages by time; export-route runs, which breaks off and goes on',
  'io/mcp/hang-up': 'needs a long scan of files; trino.test.ts cancels one of a table',
  'service/empty-answer': 'hundreds of explanations within two seconds each; scope has some',
  'service/guides': 'shows the order of the key, and samples, which a hash chooses: docs/scale.md',
  'engine, catalog, versions': 'DuckDB and files themselves: trino.test.ts asks both engines',
}

const [{ url }, trino] = await Promise.all([
  startPostgres(t, ['max_connections=300']),
  startTrino(t),
])
const env = {
  DAS_TEST_POSTGRES: url,
  DAS_TEST_TRINO: trino.url,
  DAS_TEST_TRINO_FOLDER: trino.folder,
}
await runSuites(t, {
  over: 'PostgreSQL and Trino',
  env,
  files,
  leftOut,
  skippedMin: 10,
  // A query of a few rows takes Trino a tenth of a second, and longer on busy processors.
  fileTimeoutSeconds: 900,
})
