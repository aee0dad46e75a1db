import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { sizeText } from '../../src/cli/print.js'
import { openDuckDb } from '../harness/duckdb.js'
import { hasPostgres, startPostgresServer } from '../harness/postgres.js'
import { memoryOf, startServer, system } from '../harness/process.js'
import type { Server, ServerStart } from '../harness/process.js'
import type { Run } from '../harness/script.js'
import type { FieldOptions, Service } from './field.js'
import type { Facts } from './data.js'
import { table } from './messages.js'

/** A peer that runs, or what to install. */
type Peer =
  | { readonly service: Service; readonly facts: readonly [string, string][] }
  | { readonly missing: string }

type Place = Pick<FieldOptions, 'folder' | 'python'>

const pythonFolder = fileURLToPath(new URL('peers', import.meta.url))
const startMsMax = 600_000
const sharedBuffersMax = 4 * 2 ** 30
/** PostgreSQL's names for DuckDB's types. */
const types: Readonly<Record<string, string>> = {
  VARCHAR: 'text',
  DOUBLE: 'double precision',
  TINYINT: 'smallint',
  UTINYINT: 'smallint',
  USMALLINT: 'integer',
  HUGEINT: 'numeric',
}

/** FastAPI over a PostgreSQL with the same rows, which are loaded once into a kept folder. */
export async function startPostgresPeer(place: Place, facts: Facts, run: Run): Promise<Peer> {
  if (!hasPostgres()) return { missing: 'apt-get install postgresql' }
  if (lacks(place, 'uvicorn')) return missingPython(place)
  const megabytes = Math.floor(Math.min(sharedBuffersMax, totalmem() / 4) / 2 ** 20)
  const settings = [
    ...[`shared_buffers=${megabytes}MB`, 'effective_cache_size=16GB', 'max_wal_size=8GB'],
    'jit=off',
  ]
  const folder = join(place.folder, 'postgres')
  const add = (close: () => Promise<void>) => run.cleanup.add(close)
  const postgres = await startPostgresServer(add, { settings, folder })
  const loaded = await load(postgres.url, place.folder, facts)
  const peer = await startPython(place, 'postgres_app', { BENCH_POSTGRES: postgres.url }, run)
  const service = {
    ...peer,
    restart: async () => {
      await postgres.shutDown()
      await postgres.start()
      await peer.restart()
    },
  }
  return { service, facts: [['PostgreSQL + FastAPI', loaded]] }
}

/** Loads the rows where they are not there yet, sorted as their index is; what that took. */
async function load(url: string, folder: string, { files }: Facts): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const startedMs = performance.now()
  try {
    const { rowCount } = await client.query(`SELECT FROM pg_class WHERE relname = '${table}_pkey'`)
    if (rowCount === 0) {
      using duckdb = await openDuckDb({ memory_limit: '2GiB', temp_directory: `${folder}/sort` })
      const from = `read_parquet([${files.map((path) => `'${path}'`).join()}])`
      const described = await duckdb.connection.runAndReadAll(`DESCRIBE FROM ${from}`)
      const columns = described
        .getRows()
        .map(([name, type]) => `"${String(name)}" ${types[String(type)] ?? String(type)}`)
      await client.query(`DROP TABLE IF EXISTS ${table}`)
      await client.query(`CREATE UNLOGGED TABLE ${table} (${columns.join(', ')})`)
      const rows = join(folder, 'rows.csv')
      await duckdb.connection.run(
        `COPY (FROM ${from} ORDER BY inn, year) TO '${rows}' (FORMAT csv, HEADER false)`,
      )
      await system('psql', '-q', url, '-c', `\\copy ${table} FROM '${rows}' (FORMAT csv)`)
      await rm(rows)
      await client.query(`ALTER TABLE ${table} ADD PRIMARY KEY (inn, year)`)
      await client.query(`CREATE INDEX ON ${table} (year, okved text_pattern_ops)`)
      await client.query(`CREATE INDEX ON ${table} (okpo)`)
      await client.query(`VACUUM ANALYZE ${table}`)
    }
    const seconds = (performance.now() - startedMs) / 1000
    // One pass over all of it, so that the first questions find it in memory too.
    await client.query(`SELECT count(*), sum(length(${table}::text)) FROM ${table}`)
    const sized = await client.query<{ size: string }>(
      `SELECT pg_total_relation_size('${table}') AS size`,
    )
    const size = sizeText(Number(sized.rows[0]?.size ?? 0))
    return rowCount === 0 ? `loaded in ${seconds.toFixed(0)} s, ${size}` : `loaded before, ${size}`
  } finally {
    await client.end()
  }
}

/** FastAPI over DuckDB. */
export async function startDuckDbPeer(place: Place, facts: Facts, run: Run): Promise<Peer> {
  if (lacks(place, 'uvicorn')) return missingPython(place)
  const service = await startPython(place, 'duckdb_app', { BENCH_FILES: facts.folder }, run)
  return { service, facts: [] }
}

/** `use_memory_table: false` keeps it from reading everything into memory at its start. */
export async function startRoapi(place: Place, facts: Facts, run: Run): Promise<Peer> {
  if (lacks(place, 'roapi')) return missingPython(place)
  const option = { format: 'parquet', use_memory_table: false }
  const path = join(place.folder, 'roapi.yml')
  await mkdir(place.folder, { recursive: true })
  // JSON is YAML too.
  await writeFile(path, JSON.stringify({ tables: [{ name: table, uri: facts.folder, option }] }))
  const anyPort = ['-a', '-p', '--addr-flight-sql'].flatMap((name) => [name, '127.0.0.1:0'])
  const start = {
    command: join(place.python, 'bin', 'roapi'),
    argv: ['-c', path, ...anyPort],
    env: { ...process.env, RUST_LOG: 'info' },
    pattern: /Serving web UI through ([\d.]+:\d+)/,
  }
  const service = await startService(start, run)
  return { service: { ...service, base: () => `http://${service.base()}` }, facts: [] }
}

function startPython(place: Place, app: string, env: NodeJS.ProcessEnv, run: Run) {
  const listen = ['--host', '127.0.0.1', '--port', '0', '--no-access-log']
  const start = {
    command: join(place.python, 'bin', 'uvicorn'),
    argv: [`${app}:app`, '--app-dir', pythonFolder, ...listen],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
    pattern: /Uvicorn running on (http:\/\/[\d.]+:\d+)/,
  }
  return startService(start, run)
}

/** A peer may read all its files before it listens. */
async function startService(start: ServerStart, { cleanup }: Run): Promise<Service> {
  const begin = (): Promise<Server> => startServer({ ...start, startMsMax }, cleanup)
  let server = await begin()
  return {
    base: () => server.base,
    restart: async () => {
      await server.stop()
      server = await begin()
    },
    memory: () => memoryOf(server.child),
  }
}

function lacks({ python }: Place, program: string): boolean {
  return !existsSync(join(python, 'bin', program))
}

function missingPython({ python }: Place): Peer {
  const [folder, list] = [resolve(python), join(pythonFolder, 'requirements.txt')]
  return {
    missing: `python3 -m venv ${folder} && ${folder}/bin/pip install -r ${list}`,
  }
}
