import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cleanup } from '../harness/cleanup.js'
import { bareEnvironment, launcher } from '../harness/fixture.js'
import { freePort } from '../harness/free-port.js'
import { startServer } from '../harness/server.js'
import type { Server } from '../harness/server.js'

/** One of several servers: it keeps its address and its state folder when it is started again. */
export interface Replica {
  readonly name: string
  readonly base: string
  /** The process that runs now. */
  readonly server: () => Server
  /** Ends it with SIGKILL and starts it again; resolves when it listens. */
  readonly restart: () => Promise<void>
}

interface ReplicaPlace {
  readonly registry: string
  readonly state: string
  /** Null = control.db in its state folder. */
  readonly controlUrl: string | null
}

/** Starts the built server with a state folder of its own. */
export async function startReplica(
  name: string,
  { registry, state, controlUrl }: ReplicaPlace,
  cleanup: Cleanup,
): Promise<Replica> {
  await mkdir(state, { recursive: true, mode: 0o700 })
  const port = String(await freePort('127.0.0.1'))
  const address = ['--host', '127.0.0.1', '--port', port, '--trust-proxy', '127.0.0.0/8']
  const argv = [launcher, 'serve', ...address, '--registry', registry, '--state', state]
  const shared = controlUrl === null ? {} : { DAS_CONTROL_URL: controlUrl }
  const env = { ...bareEnvironment(), ...shared, DAS_MEMORY_LIMIT: '512MB' }
  const start = () => startServer({ argv, env }, cleanup)
  let server = await start()
  return {
    name,
    base: server.base,
    server: () => server,
    restart: async () => {
      await server.end('SIGKILL')
      server = await start()
    },
  }
}

/** Starts so many servers over the registry of a folder and one PostgreSQL. */
export function startReplicas(
  folder: string,
  controlUrl: string,
  count: number,
  cleanup: Cleanup,
): Promise<readonly Replica[]> {
  const registry = join(folder, 'registry.yaml')
  const names = Array.from({ length: count }, (_, at) => String.fromCharCode(97 + at))
  return Promise.all(
    names.map((name) => {
      const state = join(folder, `state-${name}`)
      return startReplica(name, { registry, state, controlUrl }, cleanup)
    }),
  )
}
