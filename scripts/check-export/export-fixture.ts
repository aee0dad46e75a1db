import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../harness/duckdb.js'
import {
  makeFixture,
  makeFolder,
  serve,
  subscribe,
  unlimited,
  writeRegistry,
} from '../harness/fixture.js'
import type { Run } from '../harness/script.js'
import type { Server } from '../harness/server.js'

/** A running server, and a token that no quota stops. */
export interface ExportFixture {
  readonly server: Server
  readonly token: string
}

export const dataset = 'rows'
/** Rows of a page, which is also what an export reads at a time. */
export const pageRows = 1000
const textColumns = 8
const numberColumns = 11

/** Makes so many rows of 20 columns, `id` counting from 0, and serves them with the built server. */
export async function startExportFixture(rows: number, run: Run): Promise<ExportFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-export'))
  const { folder } = fixture
  const columns = [
    'i AS id',
    ...Array.from({ length: textColumns }, (_, at) => `md5('${at}' || i % 1000) AS t${at}`),
    ...Array.from({ length: numberColumns }, (_, at) => `hash(i + ${at}) % 1000000 AS n${at}`),
  ]
  const select = `SELECT ${columns.join()} FROM range(${rows}) t(i)`
  using duckdb = await openDuckDb()
  await writeParquet(duckdb, join(folder, 'data', 'rows.parquet'), select)
  const entry = {
    title: 'Rows',
    files: 'data/rows.parquet',
    require_filter: false,
    limit: { default: pageRows, max: pageRows },
    plans: { all: unlimited },
  }
  await writeRegistry(folder, { [dataset]: entry })
  const { token } = await subscribe(fixture, [`${dataset}:all`])
  return { server: await serve(fixture, run.cleanup), token }
}
