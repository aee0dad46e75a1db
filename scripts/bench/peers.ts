import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Ends } from '../harness/cleanup.js'
import type { Facts } from './facts.js'
import { startServer } from './server.js'
import type { Server } from './server.js'

interface Peer {
  readonly kind: 'fastapi' | 'roapi'
  readonly server: Server
}

/** The peers that are there, and of all of them the versions or that they are absent. */
export interface Peers {
  readonly present: readonly Peer[]
  readonly versions: Readonly<Record<string, string>>
}

const run = promisify(execFile)
const pythonFolder = fileURLToPath(new URL('peers', import.meta.url))
const packages = ['roapi', 'fastapi', 'uvicorn', 'duckdb'] as const
const absent = 'absent'

/** Makes a Python environment with the peers in it. */
export async function installPeers(folder: string): Promise<void> {
  await runThrough('python3', ['-m', 'venv', folder])
  const quiet = ['--quiet', '--disable-pip-version-check']
  const requirements = ['-r', join(pythonFolder, 'requirements.txt')]
  await runThrough(join(folder, 'bin', 'pip'), ['install', ...quiet, ...requirements])
}

/** Starts the peers of an environment over both layouts, each in a process of its own. */
export async function startPeers(
  folder: string,
  facts: Facts,
  parent: string,
  ends: Ends,
): Promise<Peers> {
  const versions = await versionsIn(folder)
  const present: Peer[] = []
  const has = (name: (typeof packages)[number]) => versions[name] !== absent
  if (has('roapi')) {
    present.push({ kind: 'roapi', server: await startRoapi(folder, facts, parent, ends) })
  }
  if (has('fastapi') && has('uvicorn') && has('duckdb')) {
    present.push({ kind: 'fastapi', server: await startFastApi(folder, facts, ends) })
  }
  return { present, versions }
}

/** No peer at all. */
export const noPeers: Peers = { present: [], versions: {} }

async function versionsIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const python = join(folder, 'bin', 'python')
  if (!existsSync(python)) return Object.fromEntries(packages.map((name) => [name, absent]))
  const script = `
import importlib.metadata as found, sys
for name in sys.argv[1:]:
    try: print(found.version(name))
    except found.PackageNotFoundError: print('${absent}')`
  const { stdout } = await run(python, ['-c', script, ...packages])
  const lines = stdout.split('\n')
  return Object.fromEntries(packages.map((name, at) => [name, lines[at] ?? absent]))
}

/**
 * `use_memory_table: false`, or it would read everything into memory at its start. Ports are its
 * own choice; the log tells them.
 */
async function startRoapi(
  folder: string,
  { yearly, packed }: Facts,
  parent: string,
  ends: Ends,
): Promise<Server> {
  const config = await mkdtemp(join(parent, 'das-bench-roapi-'))
  ends.add(() => rm(config, { recursive: true, force: true }))
  const option = { format: 'parquet', use_memory_table: false }
  const tables = [yearly, packed].map(({ name, folder: uri }) => ({ name, uri, option }))
  const path = join(config, 'roapi.yml')
  // JSON is YAML too.
  await writeFile(path, JSON.stringify({ tables }))
  const anyPort = ['-a', '-p', '--addr-flight-sql'].flatMap((name) => [name, '127.0.0.1:0'])
  const command = join(folder, 'bin', 'roapi')
  const env = { ...process.env, RUST_LOG: 'info' }
  const pattern = /Serving web UI through ([\d.]+:\d+)/
  const server = await startServer({ command, argv: ['-c', path, ...anyPort], env, pattern }, ends)
  return { ...server, base: `http://${server.base}` }
}

function startFastApi(folder: string, { yearly, packed }: Facts, ends: Ends): Promise<Server> {
  const datasets = { yearly: yearly.folder, packed: packed.folder }
  const listen = ['--host', '127.0.0.1', '--port', '0', '--no-access-log']
  const argv = ['fastapi_server:app', '--app-dir', pythonFolder, ...listen]
  const env = { ...process.env, DATASETS: JSON.stringify(datasets), PYTHONDONTWRITEBYTECODE: '1' }
  const pattern = /Uvicorn running on (http:\/\/[\d.]+:\d+)/
  return startServer({ command: join(folder, 'bin', 'uvicorn'), argv, env, pattern }, ends)
}

async function runThrough(command: string, argv: readonly string[]): Promise<void> {
  const child = spawn(command, argv, { stdio: ['ignore', 2, 2] })
  const [code]: unknown[] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}`)
}
