import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../../harness/clients.js'
import { randomOf } from '../../harness/random.js'
import { count, linesText, textTable } from '../../harness/report.js'
import type { Run } from '../../harness/script.js'
import { median } from '../../harness/statistics.js'
import { openClient, visit } from './client.js'
import type { Client, Counts, Tolerance } from './client.js'
import type { ReloadFixture } from './reload-fixture.js'

/** What the command line asks for. */
interface ReloadOptions {
  readonly refreshes: number
  readonly edits: number
  readonly bad: number
  readonly breaks: number
  readonly clients: number
  readonly seed: number
}

/** What phases have in common. */
export interface PhaseContext {
  readonly fixture: ReloadFixture
  readonly options: ReloadOptions
  readonly run: Run
  /** Counts changes: each gets a number of its own. */
  readonly nextNumber: () => number
  /** False when nothing new is to be started. */
  readonly hasTime: () => boolean
}

/** What the changes of a phase came to. */
export interface Changes {
  /** Edits of the registry, and bad files. */
  readonly edits?: number
  readonly bad?: number
  /** Of each refresh, from its rename to the first answer from the new file. */
  readonly servedMs: readonly number[]
  /** Why it was left out, or a finding that no number shows. */
  readonly note?: string
}

/** What one phase came to. */
export interface Outcome {
  readonly phase: string
  readonly counts: Counts
  readonly versions: number
  readonly changes: Changes
  readonly seconds: number
}

/** A short rest, which leaves the server on the same machine time for more than answers. */
const restMs = 20

const noCounts = { requests: 0, walks: 0, rows: 0, unavailable: 0, gone: 0, away: 0 }

/** A phase that did not run, and why. */
export function leftOut(phase: string, note: string): Outcome {
  return { phase, counts: noCounts, versions: 0, changes: { servedMs: [], note }, seconds: 0 }
}

/**
 * Lets clients ask while `change` changes things, then lets them finish what they began. The first
 * fault of any of them ends the phase.
 */
export async function runPhase(
  { fixture, options, run }: PhaseContext,
  phase: string,
  base: string,
  tolerance: Tolerance,
  change: (client: Client) => Promise<Changes>,
): Promise<Outcome> {
  const startedMs = performance.now()
  const versionsBefore = fixture.things.versions
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients + 1 })
  const target = { base, agent, token: fixture.token }
  const client = openClient(fixture, target, tolerance, { ...noCounts })
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
    return { phase, counts: client.counts, versions, changes, seconds }
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

const titles = [
  ...['phase', 'requests', 'rows', 'walks', 'versions', 'refreshes', 'edits', 'bad files'],
  ...['503', 'walks again', 'asked again', 'served after ms', 'at most', 'seconds'],
]

/** A table of what phases came to. */
export function outcomesText(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ phase, counts, versions, changes, seconds }) => {
    const { servedMs, edits = 0, bad = 0 } = changes
    const { requests, rows, walks, unavailable, gone, away } = counts
    const seen = [requests, rows, walks, versions, servedMs.length, edits, bad]
    const times = servedMs.length > 0 ? [median(servedMs), Math.max(...servedMs)] : [0, 0]
    const figures = [...seen, unavailable, gone, away, ...times, seconds]
    return [phase, ...figures.map((figure) => count(Math.round(figure)))]
  })
  const notes = outcomes.flatMap(({ phase, changes }) => {
    return changes.note === undefined ? [] : [`${phase}: ${changes.note}`]
  })
  return textTable(titles, rows) + linesText(notes)
}
