import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { isMap, isScalar, parseDocument } from 'yaml'
import type { YAMLMap } from 'yaml'
import { TrinoClient } from '../../src/engine/trino/trino-client.js'
import { listOf } from '../../src/registry/registry.js'
import type { Hive } from './trino-server.js'
import { hiveTableOf } from './hive.js'
import { machineClock } from '../../src/clock.js'

/**
 * Where the rows of a test are: in the files that it writes or, if `DAS_TEST_TRINO` is the URL of a
 * cluster and `DAS_TEST_TRINO_FOLDER` the folder of its tables, in tables of Hive made of these files
 * (`test/scale/suites/trino-suites.test.ts`).
 */
const { DAS_TEST_TRINO: url, DAS_TEST_TRINO_FOLDER: folder } = process.env

/** What only files have: tests of it are left out with Trino. */
const reasons = {
  damages: 'damages files',
  keyless: 'has a dataset without a key',
  names: 'has names of columns that Hive does not keep: capital letters, commas',
  parquet: 'asks for Parquet, which a table is not served as',
  explains:
    'needs explanations that Trino makes too late on busy processors: they have two seconds',
  replaces: 'replaces files under the server',
  shipped: "reads the repository's own registry and files",
  slow: 'needs a long scan of files; trino.test.ts has one of a table',
} as const

/** The beginning of the reason of each test that is left out. */
export const filesOnlyMark = 'only with files: it '

/** Leaves a test out when its rows are in Trino: `t.test(name, filesOnly('replaces'), …)`. */
export function filesOnly(reason: keyof typeof reasons): { readonly skip?: string } {
  return url === undefined ? {} : { skip: filesOnlyMark + reasons[reason] }
}

/** The format that is for files alone, where it can be asked for. */
export const parquetFormat = url === undefined ? ['parquet'] : []

/** Dataset → columns that are unique together, in whose order its files hold their rows. */
export type StoredOrder = Readonly<Record<string, readonly string[]>>

/** Refuses a world that would be over files although tables are asked for. */
export function requireTables(registry: string | undefined): void {
  if (url === undefined || registry === undefined) return
  throw new Error(`${registry} is the test's own: leave the test out with filesOnly`)
}

/**
 * The registry of a test: unchanged, or with a table in place of each dataset's files. The key of the
 * table is the order of the rows: the dataset's own where none is given here.
 */
export async function registryOf(
  base: string,
  text: string,
  storedOrder: StoredOrder,
): Promise<string> {
  if (url === undefined || folder === undefined) return text
  const client = new TrinoClient(url, { user: 'test', password: null }, machineClock)
  const hive: Hive = {
    folder,
    sql: (text) => client.run({ text, values: [] }, AbortSignal.timeout(60_000)),
  }
  const document = parseDocument(text)
  const datasets = document.get('datasets')
  if (!isMap(datasets)) return text
  for (const { key, value } of datasets.items) {
    if (!isScalar(key) || !isMap(value) || !value.has('files')) continue
    await replaceFiles(hive, base, value, storedOrder[String(key.value)])
  }
  return String(document)
}

async function replaceFiles(
  hive: Hive,
  base: string,
  dataset: YAMLMap,
  order: readonly string[] | undefined,
): Promise<void> {
  const { files } = dataset.toJSON() as { readonly files: string | readonly string[] }
  const paths = listOf(files).flatMap((pattern) => globSync(pattern, { cwd: base }).sort())
  if (paths.length === 0) return
  const table = `t_${randomBytes(8).toString('hex')}`
  await hiveTableOf(
    hive,
    table,
    paths.map((path) => join(base, path)),
  )
  for (const name of ['files', 'pack']) dataset.delete(name)
  dataset.set('engine', { trino: url })
  dataset.set('table', `hive.das.${table}`)
  if (order) dataset.set('key', order)
}
