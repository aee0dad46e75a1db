import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseDocument } from 'yaml'
import type { Ends } from '../harness/cleanup.js'
import type { Target } from './load-round.js'

/** How often a server has charged so far, and in how many transactions. */
export interface Counts {
  readonly charges: number
  readonly writes: number
}

export interface BenchServer {
  readonly target: Target
  readonly counts: () => Promise<Counts>
}

const plan = { rows_per_month: 1e12, history: 'all', price_rub: 0, rate_per_minute: 1e9 }

/** The shipped registry with a plan that no benchmark uses up, beside the shipped data. */
export async function writeRegistry(folder: string): Promise<string> {
  const registry = parseDocument(await readFile('registry.yaml', 'utf8'))
  registry.setIn(['datasets', 'financials', 'plans', 'bench'], registry.createNode(plan))
  const path = join(folder, 'registry.yaml')
  await writeFile(path, String(registry))
  await symlink(resolve('data'), join(folder, 'data'))
  return path
}

/** Starts a server in a process of its own; it ends when its channel to this one is closed. */
export async function startServer(
  kind: 'queue' | 'none',
  folder: string,
  path: string,
  ends: Ends,
): Promise<BenchServer> {
  const state = join(folder, kind)
  await mkdir(state)
  const program = fileURLToPath(new URL('charge-server.ts', import.meta.url))
  const child = fork(program, [kind, join(folder, 'registry.yaml'), state], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  ends.add(async () => {
    if (child.connected) child.disconnect()
    await ended
  })
  const gone = ended.then(() => {
    throw new Error(`the server with charging '${kind}' ended`)
  })
  gone.catch(() => undefined)
  const told = async <T>(): Promise<T> => {
    const [message] = (await Promise.race([once(child, 'message'), gone])) as [T]
    return message
  }
  const { base, token } = await told<{ base: string; token: string }>()
  const counts = () => {
    const answer = told<Counts>()
    child.send('counts')
    return answer
  }
  return { target: { base, path, token }, counts }
}
