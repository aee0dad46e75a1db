import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { TrinoClient } from '../../src/engine/trino/trino-client.js'
import { freePort } from '../../scripts/harness/process.js'
import { machineClock } from '../../src/clock.js'

const run = promisify(execFile)
const artifact = 'io.trino:trino-server:470:tar.gz'
const cacheFolder = resolve('node_modules/.cache/trino-server-470')
const connectors: readonly string[] = ['hive', 'memory']
const javaMin = 24
const startTries = 600
/** The catalog `hive` of a cluster. */
export interface Hive {
  /** Tables are made of files in folders below it. */
  readonly folder: string
  readonly sql: (text: string) => Promise<readonly (readonly (string | null)[])[]>
}

/** A cluster of one real server, with the catalogs `hive` and `memory`. */
export interface Cluster extends Hive {
  readonly url: string
  /** Kills the server. */
  readonly stop: () => Promise<void>
  /** Starts it again, at the same address. */
  readonly start: () => Promise<void>
}

/**
 * Starts a Trino; what `add` takes ends it and removes its folder. Its first start downloads 1 GB
 * with Maven; a JDK must be there.
 */
export async function startTrinoServer(
  add: (close: () => Promise<void>) => unknown,
): Promise<Cluster> {
  const java = await findJava()
  if (!existsSync(cacheFolder)) await install()
  const folder = mkdtempSync(join(tmpdir(), 'das-trino-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const data = join(folder, 'data')
  mkdirSync(join(data, 'probe'), { recursive: true })
  writeFileSync(join(data, 'probe', 'lines'), 'ready\n')
  writeSettings(folder, port)
  let child: ChildProcess | null = null
  const stop = async () => {
    const running = child
    child = null
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    running.kill('SIGKILL')
    await once(running, 'exit')
  }
  const client = new TrinoClient(url, { user: 'test', password: null }, machineClock)
  const sql: Cluster['sql'] = (text) =>
    client.run({ text, values: [] }, AbortSignal.timeout(120_000))
  const start = async () => {
    const log = openSync(join(folder, 'log'), 'a')
    child = spawn(java, javaArguments(folder), { cwd: folder, stdio: ['ignore', log, log] })
    for (let tries = 0; ; tries++) {
      if (await isReady(sql, data).catch(() => false)) return
      if (tries === startTries || child.exitCode !== null) throw new Error('Trino did not start')
      await sleep(200)
    }
  }
  add(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return { url, folder: data, sql, stop, start }
}

/**
 * Whether it reads a file of a table: Trino answers `SELECT 1`, and makes tables, seconds before it
 * has a worker that does.
 */
async function isReady(sql: Hive['sql'], data: string): Promise<boolean> {
  await sql('CREATE SCHEMA IF NOT EXISTS hive.das')
  await sql(`CREATE TABLE IF NOT EXISTS hive.das.probe (line VARCHAR) WITH (
    external_location = 'file://${join(data, 'probe')}', format = 'TEXTFILE')`)
  return (await sql('SELECT line FROM hive.das.probe')).length === 1
}

/** Keeps what runs: the server and its connectors. */
async function install(): Promise<void> {
  const draft = `${cacheFolder}.draft`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  const copy = ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${draft}`]
  await run('mvn', ['--quiet', '--batch-mode', ...copy])
  const archive = join(draft, 'trino-server-470.tar.gz')
  await run('tar', ['-xzf', archive, '-C', draft, '--strip-components=1'])
  rmSync(archive)
  const plugins = join(draft, 'plugin')
  for (const name of readdirSync(plugins)) {
    // Their files are links to one another, so the archive can't be unpacked in part.
    if (!connectors.includes(name)) rmSync(join(plugins, name), { recursive: true })
  }
  renameSync(draft, cacheFolder)
}

async function findJava(): Promise<string> {
  const folder = '/usr/lib/jvm'
  const homes = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  const known = [process.env['JAVA_HOME'] ?? [], ...homes].flat()
  for (const java of ['java', ...known.map((home) => join(home, 'bin/java'))]) {
    if (java !== 'java' && !existsSync(java)) continue
    const { stderr } = await run(java, ['-version']).catch(() => ({ stderr: '' }))
    if (Number(/version "(\d+)/.exec(stderr)?.[1]) >= javaMin) return java
  }
  throw new Error(`Trino needs a JDK of at least ${javaMin}, in JAVA_HOME or ${folder}`)
}

function writeSettings(folder: string, port: number): void {
  mkdirSync(join(folder, 'catalog'))
  const write = (name: string, settings: Readonly<Record<string, string | number>>) => {
    const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`)
    writeFileSync(join(folder, name), lines.join(''))
  }
  write('config.properties', {
    coordinator: 'true',
    'node-scheduler.include-coordinator': 'true',
    'http-server.http.port': port,
    'discovery.uri': `http://127.0.0.1:${port}`,
    'node.environment': 'test',
    'node.id': 'test',
    'node.bind-ip': '127.0.0.1',
    'node.internal-address': '127.0.0.1',
    'catalog.config-dir': join(folder, 'catalog'),
    'plugin.dir': join(cacheFolder, 'plugin'),
    'query.max-memory-per-node': '1GB',
  })
  write('catalog/hive.properties', {
    'connector.name': 'hive',
    'hive.metastore': 'file',
    'hive.metastore.catalog.dir': `file://${join(folder, 'metastore')}`,
    'hive.timestamp-precision': 'MICROSECONDS',
    'fs.hadoop.enabled': 'true',
  })
  write('catalog/memory.properties', { 'connector.name': 'memory' })
}

function javaArguments(folder: string): readonly string[] {
  return [
    '-Xmx3G',
    '-XX:+UseG1GC',
    '-XX:+ExitOnOutOfMemoryError',
    '-XX:ReservedCodeCacheSize=256M',
    '-Djdk.attach.allowAttachSelf=true',
    '-Duser.timezone=UTC',
    '--add-modules=jdk.incubator.vector',
    '--enable-native-access=ALL-UNNAMED',
    '--sun-misc-unsafe-memory-access=allow',
    `-Dconfig=${join(folder, 'config.properties')}`,
    '-cp',
    join(cacheFolder, 'lib', '*'),
    'io.trino.server.TrinoServer',
  ]
}

/** A column, and its type as DuckDB names it. */
export type DescribedColumn = readonly [name: string, type: string]

/** The types of Hive for DuckDB's, of those that both have. */
const hiveTypes: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'tinyint',
  SMALLINT: 'smallint',
  INTEGER: 'integer',
  BIGINT: 'bigint',
  FLOAT: 'real',
  DOUBLE: 'double',
  VARCHAR: 'varchar',
  DATE: 'date',
  TIMESTAMP: 'timestamp(6)',
  BLOB: 'varbinary',
}

/** Makes a table of Hive of the Parquet files in a folder: `hive.das.<name>`. */
export async function createHiveTable(
  { sql }: Pick<Hive, 'sql'>,
  name: string,
  folder: string,
  columns: readonly DescribedColumn[],
): Promise<void> {
  const typed = columns.map(([column, type]) => `${quoted(column)} ${hiveType(type)}`)
  await sql(`CREATE TABLE hive.das."${name}" (${typed.join(', ')}) WITH (
    external_location = 'file://${folder}', format = 'PARQUET')`)
}

/** A name in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function hiveType(type: string): string {
  if (type.endsWith('[]')) return `array(${hiveType(type.slice(0, -2))})`
  const fields = /^STRUCT\((.*)\)$/.exec(type)?.[1]
  if (fields !== undefined) {
    const each = fields.split(', ').map((field) => field.split(' '))
    return `row(${each.map(([name, of = '']) => `${name} ${hiveType(of)}`).join(', ')})`
  }
  const [, key, value] = /^MAP\((\w+), (.*)\)$/.exec(type) ?? []
  if (key !== undefined && value !== undefined) return `map(${hiveType(key)}, ${hiveType(value)})`
  return hiveTypes[type] ?? type.toLowerCase()
}
