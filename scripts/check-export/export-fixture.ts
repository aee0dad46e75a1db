import { DuckDBInstance } from '@duckdb/node-api'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { startServer } from '../bench/server.js'
import type { Server } from '../bench/server.js'
import { bareEnvironment, launcher } from '../check-reload/reload-fixture.js'
import type { Ends } from '../harness/cleanup.js'

/** A running server, and a token that its quota never stops. */
export interface House {
  readonly server: Server
  readonly token: string
}

export const dataset = 'rows'
/** Rows of a page, which is also what an export reads at a time. */
export const pageRows = 1000
const textColumns = 8
const numberColumns = 11

const run = promisify(execFile)
const Created = Type.Object({ token: Type.String() })

/** Makes so many rows of 20 columns, `id` counting from 0, and serves them as built. */
export async function openHouse(rows: number, ends: Ends): Promise<House> {
  const folder = await mkdtemp(join(tmpdir(), 'das-check-export-'))
  ends.add(() => rm(folder, { recursive: true, force: true }))
  await writeData(folder, rows)
  await writeFile(join(folder, 'registry.yaml'), registryText())
  const place = ['--registry', join(folder, 'registry.yaml'), '--state', join(folder, 'var')]
  const sold = ['subscription', 'create', '--email', 'a@example.org', '--plan', `${dataset}:all`]
  const env = bareEnvironment()
  const { stdout } = await run(process.execPath, [launcher, ...sold, '--json', ...place], { env })
  const { token } = Value.Parse(Created, JSON.parse(stdout))
  const argv = [launcher, 'serve', '--port', '0', ...place]
  const server = await startServer({ command: process.execPath, argv, env }, ends)
  return { server, token }
}

async function writeData(folder: string, rows: number): Promise<void> {
  await mkdir(join(folder, 'data'))
  const columns = [
    'i AS id',
    ...Array.from({ length: textColumns }, (_, at) => `md5('${at}' || i % 1000) AS t${at}`),
    ...Array.from({ length: numberColumns }, (_, at) => `hash(i + ${at}) % 1000000 AS n${at}`),
  ]
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const select = `SELECT ${columns.join()} FROM range(${rows}) t(i)`
  await connection.run(`COPY (${select}) TO '${join(folder, 'data', 'rows.parquet')}'`)
  connection.closeSync()
  instance.closeSync()
}

/** JSON is YAML too. */
function registryText(): string {
  const plan = { rows_per_month: 1e12, history: 'all', price_rub: 0, rate_per_minute: 1e9 }
  const entry = {
    title: 'Rows',
    files: 'data/rows.parquet',
    require_filter: false,
    limit: { default: pageRows, max: pageRows },
    plans: { all: plan },
  }
  return JSON.stringify({ datasets: { [dataset]: entry } })
}
