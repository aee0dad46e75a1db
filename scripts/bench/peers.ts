import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../harness/cleanup.js'
import { makeFolder } from '../harness/fixture.js'
import { runProgram, runVisibly } from '../harness/process.js'
import type { Run } from '../harness/script.js'
import { startServer } from '../harness/server.js'
import type { Server, ServerStart } from '../harness/server.js'
import type { Options } from './bench-options.js'
import type { Facts } from './facts.js'

interface Peer {
  readonly kind: 'fastapi' | 'roapi'
  readonly server: Server
}

/** Where their environment is, where files are made, and on which cores they run. */
type PeerOptions = Pick<Options, 'peers' | 'folder' | 'serverCores'>

/** The peers that are installed, and the version of each package, or that it is absent. */
export interface Peers {
  readonly present: readonly Peer[]
  readonly versions: Readonly<Record<string, string>>
}

const pythonFolder = fileURLToPath(new URL('peers', import.meta.url))
const packages = ['roapi', 'fastapi', 'uvicorn', 'duckdb'] as const
const absent = 'absent'

/** Makes a Python environment with the peers in it. */
export async function installPeers(folder: string, cleanup: Cleanup): Promise<void> {
  await runVisibly({ command: 'python3', argv: ['-m', 'venv', folder] }, cleanup)
  const quiet = ['--quiet', '--disable-pip-version-check']
  const argv = ['install', ...quiet, '-r', join(pythonFolder, 'requirements.txt')]
  await runVisibly({ command: join(folder, 'bin', 'pip'), argv }, cleanup)
}

/** Starts the peers of an environment over both layouts, each in a process of its own. */
export async function startPeers(facts: Facts, options: PeerOptions, run: Run): Promise<Peers> {
  const versions = await versionsIn(options.peers)
  const present: Peer[] = []
  const has = (name: (typeof packages)[number]) => versions[name] !== absent
  if (has('roapi')) {
    present.push({ kind: 'roapi', server: await startRoapi(facts, options, run) })
  }
  if (has('fastapi') && has('uvicorn') && has('duckdb')) {
    const server = await startFastApi(facts, options, run)
    present.push({ kind: 'fastapi', server })
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
  const { stdout } = await runProgram({ command: python, argv: ['-c', script, ...packages] })
  const lines = stdout.split('\n')
  return Object.fromEntries(packages.map((name, at) => [name, lines[at] ?? absent]))
}

/** `use_memory_table: false` keeps it from reading everything into memory at its start. */
async function startRoapi(facts: Facts, options: PeerOptions, run: Run) {
  const { peers, folder: parent, serverCores: cores } = options
  const option = { format: 'parquet', use_memory_table: false }
  const layouts = [facts.yearly, facts.packed]
  const tables = layouts.map(({ name, folder: uri }) => ({ name, uri, option }))
  const path = join(await makeFolder(run, 'bench-roapi', { parent }), 'roapi.yml')
  // JSON is YAML too.
  await writeFile(path, JSON.stringify({ tables }))
  const anyPort = ['-a', '-p', '--addr-flight-sql'].flatMap((name) => [name, '127.0.0.1:0'])
  const argv = ['-c', path, ...anyPort]
  const env = { ...process.env, RUST_LOG: 'info' }
  const pattern = /Serving web UI through ([\d.]+:\d+)/
  const command = join(peers, 'bin', 'roapi')
  const server = await startPeer({ command, argv, env, pattern, cores }, run)
  return { ...server, base: `http://${server.base}` }
}

function startFastApi({ yearly, packed }: Facts, options: PeerOptions, run: Run): Promise<Server> {
  const { peers, serverCores: cores } = options
  const datasets = { yearly: yearly.folder, packed: packed.folder }
  const listen = ['--host', '127.0.0.1', '--port', '0', '--no-access-log']
  const argv = ['fastapi_server:app', '--app-dir', pythonFolder, ...listen]
  const env = { ...process.env, DATASETS: JSON.stringify(datasets), PYTHONDONTWRITEBYTECODE: '1' }
  const pattern = /Uvicorn running on (http:\/\/[\d.]+:\d+)/
  return startPeer({ command: join(peers, 'bin', 'uvicorn'), argv, env, pattern, cores }, run)
}

/** A peer may read all its files before it listens. */
function startPeer(start: ServerStart, { cleanup }: Run): Promise<Server> {
  return startServer({ ...start, startMsMax: 600_000 }, cleanup)
}
