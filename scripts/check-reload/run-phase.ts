import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../harness/clients.js'
import { randomOf } from '../harness/random.js'
import type { Run } from '../harness/script.js'
import type { Server } from '../harness/server.js'
import { emptyOutcome, noCounts } from './phase-table.js'
import type { Outcome } from './phase-table.js'
import type { ReloadFixture } from './reload-fixture.js'
import type { Options } from './reload-options.js'
import { visit } from './walks.js'
import type { Client, Tolerance } from './walks.js'

/** What phases have in common. */
export interface PhaseContext {
  readonly fixture: ReloadFixture
  readonly options: Options
  readonly run: Run
  /** Counts changes: each gets a number of its own. */
  readonly nextNumber: () => number
  /** False when nothing new is to be started. */
  readonly hasTime: () => boolean
}

/** What the changes of a phase came to. */
export type Changes = Partial<Pick<Outcome, 'refreshes' | 'edits' | 'bad' | 'servedMs' | 'note'>>

/** A short rest, which leaves the server on the same machine time for more than answers. */
const restMs = 20

/**
 * Lets clients ask while `change` changes things, then lets them finish what they began. The first
 * fault of any of them ends the phase.
 */
export async function runPhase(
  { fixture, options, run }: PhaseContext,
  phase: string,
  server: Pick<Server, 'base'>,
  tolerance: Tolerance,
  change: (client: Client) => Promise<Changes>,
): Promise<Outcome> {
  const startedMs = performance.now()
  const versionsBefore = fixture.things.versions
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients + 1 })
  const target = { base: server.base, agent, token: fixture.token }
  const client = { fixture, target, tolerance, counts: noCounts() }
  const { stop, done } = startClients(options.clients, (at) => {
    const random = randomOf(options.seed, at)
    return async () => {
      await visit(client, random)
      await sleep(restMs)
    }
  })
  const failed = done.then(() => new Promise<never>(() => undefined))
  try {
    const changes = await Promise.race([change(client), failed, stopOf(run.cleanup.signal)])
    stop()
    await done
    const seconds = (performance.now() - startedMs) / 1000
    const versions = fixture.things.versions - versionsBefore
    return { ...emptyOutcome(phase), ...changes, counts: client.counts, versions, seconds }
  } finally {
    stop()
    await done.catch(() => undefined)
    agent.destroy()
  }
}

/** Rejects when the script is stopped. */
function stopOf(signal: AbortSignal): Promise<never> {
  const stopped = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
  })
  stopped.catch(() => undefined)
  return stopped
}
