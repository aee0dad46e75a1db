import { setTimeout as sleep } from 'node:timers/promises'
import { periodOf } from '../../src/control/usage.js'
import { readBooks } from './charged-rows.js'
import { startCrowd } from './clients.js'
import type { Crowd } from './clients.js'
import type { House, Subscriber } from './charges-fixture.js'
import { openLedger } from './ledger.js'
import type { Counts, Ledger } from './ledger.js'
import { findViolation, growthOf } from './rule.js'
import type { Charged, Phase, Violation } from './rule.js'
import { startServer } from './server.js'

/** One run of the server: clients ask for a while, then a signal ends it. */
export interface PhasePlan {
  /** Its place in the run, from 0. */
  readonly number: number
  /** SIGTERM waits for all answers first; SIGKILL does not wait. */
  readonly signal: 'SIGTERM' | 'SIGKILL'
  /** From the clients' beginning to the signal. */
  readonly afterMs: number
  /** The signal waits, after that, for the next answer to begin: what it holds must be paid for. */
  readonly isAtAnswer: boolean
  /** Those who ask; all that there are have caps. */
  readonly subscribers: readonly Subscriber[]
}

/** What stays the same from phase to phase. */
export interface Scene {
  readonly house: House
  readonly clients: number
  readonly seed: number
  /** Everybody who ever had a subscription. */
  readonly everybody: readonly Subscriber[]
  /** Aborts when the run is stopped. */
  readonly signal: AbortSignal
}

/** What a phase showed. */
export interface Finding {
  readonly counts: Counts
  readonly delivered: number
  readonly charged: number
  readonly attempted: number
  /** All that the database holds now. */
  readonly books: readonly Charged[]
  /** What is wrong; null = nothing. */
  readonly fault: Fault | null
}

export type Fault =
  | { readonly kind: 'rule'; readonly violation: Violation }
  | { readonly kind: 'database'; readonly damage: string }

/**
 * Runs a phase over books as the last one left them, and judges it.
 * @throws Error when the server does not start, answer or end as it has to
 */
export async function runPhase(
  scene: Scene,
  plan: PhasePlan,
  before: readonly Charged[],
): Promise<Finding> {
  const began = Date.now()
  const ledger = openLedger()
  await letClientsAsk(scene, plan, ledger)
  const counts = ledger.counts()
  const isClean = plan.signal === 'SIGTERM'
  if (isClean && counts.broken + counts.unsent > 0) {
    throw new Error(`${counts.broken} answers broke off though nothing crashed`)
  }
  const { charged: books, damage } = readBooks(scene.house.database)
  const phase: Phase = {
    isClean,
    periods: [periodOf(began), periodOf(Date.now())],
    seen: ledger.seen(),
    before,
    after: books,
    caps: scene.everybody.flatMap(({ caps }) => caps),
  }
  return {
    counts,
    delivered: sum(phase.seen.map(({ delivered }) => delivered)),
    charged: sum(growthOf(phase).map(({ rows }) => rows)),
    attempted: sum(phase.seen.map(({ attempted }) => attempted)),
    books,
    fault: faultOf(phase, damage),
  }
}

/** @throws Error when the server ends in another way than the plan's */
async function letClientsAsk(scene: Scene, plan: PhasePlan, ledger: Ledger): Promise<void> {
  const server = await startServer(scene.house, scene.signal)
  const crowd = startCrowd({ ...scene, ...plan, base: server.base, ledger })
  try {
    await Promise.race([momentOf(plan, crowd, scene.signal), crowd.done, server.ended])
    crowd.stop()
    if (plan.signal === 'SIGTERM') await crowd.done
    const [how] = await Promise.all([server.end(plan.signal), crowd.done])
    scene.signal.throwIfAborted()
    const due = plan.signal === 'SIGTERM' ? 0 : plan.signal
    if (how !== due) throw new Error(`the server ended with ${how}, not ${due}:\n${server.log()}`)
  } finally {
    crowd.stop()
    await server.end('SIGKILL')
    // Where it failed, that is thrown already.
    await crowd.done.catch(() => undefined)
  }
}

/** Resolves when the signal is due. */
async function momentOf(plan: PhasePlan, crowd: Crowd, signal: AbortSignal): Promise<void> {
  await sleep(plan.afterMs, undefined, { signal })
  if (plan.isAtAnswer) await crowd.nextAnswer()
}

function faultOf(phase: Phase, damage: string | null): Fault | null {
  if (damage !== null) return { kind: 'database', damage }
  const violation = findViolation(phase)
  return violation && { kind: 'rule', violation }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
