import { Agent } from 'node:http'
import { startCrowd } from './walks.js'
import type { Client, Leave } from './walks.js'
import type { House } from './reload-fixture.js'
import type { Options } from './reload-options.js'
import { noCounts } from './phase-table.js'
import type { Outcome } from './phase-table.js'
import type { Server } from './server.js'

/** What stays the same from phase to phase. */
export interface Scene {
  readonly house: House
  readonly options: Options
  /** Aborts when the run is stopped. */
  readonly signal: AbortSignal
  /** False when nothing new is to be begun. */
  readonly hasTime: () => boolean
  readonly say: (words: string) => void
}

export type Tally = Partial<Pick<Outcome, 'refreshes' | 'edits' | 'bad' | 'servedMs' | 'note'>>

/**
 * Lets clients ask while `play` changes things, then lets them end what they began. The first
 * fault of any of them ends it all.
 */
export async function stage(
  { house, options, signal }: Scene,
  phase: string,
  server: Pick<Server, 'base'>,
  leave: Leave,
  play: (client: Client) => Promise<Tally>,
): Promise<Outcome> {
  const begin = performance.now()
  const before = house.things.versions
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients + 1 })
  const target = { base: server.base, agent, token: house.token }
  const client = { house, target, leave, counts: noCounts() }
  const crowd = startCrowd(client, options.clients, options.seed)
  const stopped = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
  })
  stopped.catch(() => undefined)
  try {
    const tally = await Promise.race([play(client), crowd.failed, stopped])
    await crowd.end()
    const seconds = (performance.now() - begin) / 1000
    const versions = house.things.versions - before
    const nothing = { refreshes: 0, edits: 0, bad: 0, servedMs: [], note: '' }
    return { ...nothing, ...tally, phase, counts: client.counts, versions, seconds }
  } finally {
    await crowd.end().catch(() => undefined)
    agent.destroy()
  }
}
