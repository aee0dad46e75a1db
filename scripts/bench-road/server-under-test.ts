import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { soldStatements } from '../bench/bench-data.js'
import type { BenchTarget } from '../bench/messages.js'
import {
  bareEnvironment,
  makeFixture,
  makeFolder,
  serve,
  subscribe,
  writeRegistry,
} from '../harness/fixture.js'
import type { Run } from '../harness/script.js'
import type { CpuProfile } from './profile.js'

/** What the server spent since `begin`. */
interface Spent {
  /** CPU time of the event loop's thread, and of the whole process. */
  readonly loopMs: number
  readonly allMs: number
  /** One record for each request: the wall time of its parts, and `total`. */
  readonly parts: readonly Readonly<Record<string, number>>[]
  readonly profile: CpuProfile | null
}

/** A built server with the clock in it. */
export interface ServerUnderTest {
  readonly name: string
  readonly target: BenchTarget
  readonly registry: string
  /** `cpu` measures nothing else, so that it costs nothing. */
  readonly begin: (kind: 'cpu' | 'parts' | 'profile') => Promise<unknown>
  readonly stop: () => Promise<Spent>
  /** How long the way to the thread pool and back takes. */
  readonly poolTripMs: () => Promise<number>
}

/** Starts a built server over one folder of packed files. */
export async function startUnderTest(
  name: string,
  build: string,
  packed: string,
  run: Run,
): Promise<ServerUnderTest> {
  const folder = await makeFolder(run, 'bench-road')
  const fixture = await makeFixture(folder)
  await writeRegistry(folder, { packed: soldStatements(packed) })
  const { token } = await subscribe(fixture, ['packed:bench'])
  const clock = fileURLToPath(new URL('clock.cjs', import.meta.url))
  const env = { ...bareEnvironment(), NODE_OPTIONS: `--require "${clock}"` }
  const program = resolve(build, 'das.cjs')
  const start = { program, env, hasChannel: true, outputMax: 4000 }
  const { base, child } = await serve(fixture, run.cleanup, start)
  const order = async (order: string, value?: string): Promise<unknown> => {
    const message = once(child, 'message')
    child.send({ order, value })
    const [answer] = (await message) as [{ readonly reply: unknown }]
    return answer.reply
  }
  return {
    name,
    target: { kind: 'das', base, dataset: 'packed', token },
    registry: join(folder, 'registry.yaml'),
    begin: (kind) => order('begin', kind),
    // What `clock.cjs` sends.
    stop: async () => (await order('stop')) as Spent,
    poolTripMs: async () => (await order('poolTrip')) as number,
  }
}
