import { setTimeout as sleep } from 'node:timers/promises'
import { periodOf } from '../../src/control/usage.js'
import type { Cleanup } from '../harness/cleanup.js'
import { serve } from '../harness/fixture.js'
import { sum } from '../harness/statistics.js'
import { readChargedRows } from './charged-rows.js'
import type { ChargesFixture, Subscriber } from './charges-fixture.js'
import { openLedger } from './ledger.js'
import type { Counts, Ledger } from './ledger.js'
import { startReaders } from './readers.js'
import type { Readers } from './readers.js'
import { findViolation, growthOf } from './rule.js'
import type { Charged, Phase, Violation } from './rule.js'

/** One run of the server: clients ask for a while, then a signal ends it. */
export interface PhasePlan {
  /** Its place in the run, from 0. */
  readonly number: number
  /** SIGTERM waits for all answers first; SIGKILL does not wait. */
  readonly signal: 'SIGTERM' | 'SIGKILL'
  /** From the clients' start to the signal. */
  readonly afterMs: number
  /** The signal waits, after that, for the next answer to begin: what it holds must be paid for. */
  readonly isAtAnswer: boolean
  /** Those that ask in this phase. */
  readonly subscribers: readonly Subscriber[]
}

/** What phases have in common. */
export interface PhaseContext {
  readonly fixture: ChargesFixture
  readonly cleanup: Cleanup
  readonly clients: number
  readonly seed: number
  /** All that were ever sold. */
  readonly allSubscribers: readonly Subscriber[]
}

/** What a phase showed. */
export interface Finding {
  readonly counts: Counts
  readonly delivered: number
  readonly charged: number
  readonly attempted: number
  /** All that the database holds now. */
  readonly after: readonly Charged[]
  /** What is wrong; null = nothing. */
  readonly fault: PhaseFault | null
}

/** A broken rule, or a broken database. */
export type PhaseFault =
  | { readonly kind: 'rule'; readonly violation: Violation }
  | { readonly kind: 'database'; readonly damage: string }

/**
 * Runs a phase over the database that the last one left, and judges it.
 * @throws Error when the server does not start, answer or end as planned
 */
export async function runPhase(
  context: PhaseContext,
  plan: PhasePlan,
  before: readonly Charged[],
): Promise<Finding> {
  const startedMs = Date.now()
  const ledger = openLedger()
  await letClientsAsk(context, plan, ledger)
  const counts = ledger.counts()
  const isClean = plan.signal === 'SIGTERM'
  if (isClean && counts.broken + counts.unsent > 0) {
    throw new Error(`${counts.broken} answers broke off though nothing crashed`)
  }
  const { charged: after, damage } = readChargedRows(context.fixture.database)
  const phase: Phase = {
    isClean,
    periods: [periodOf(startedMs), periodOf(Date.now())],
    seen: ledger.seen(),
    before,
    after,
    caps: context.allSubscribers.flatMap(({ caps }) => caps),
  }
  return {
    counts,
    delivered: sum(phase.seen.map(({ delivered }) => delivered)),
    charged: sum(growthOf(phase).map(({ rows }) => rows)),
    attempted: sum(phase.seen.map(({ attempted }) => attempted)),
    after,
    fault: faultOf(phase, damage),
  }
}

/** @throws Error when the server ends in another way than the plan's */
async function letClientsAsk(
  context: PhaseContext,
  plan: PhasePlan,
  ledger: Ledger,
): Promise<void> {
  const { fixture, cleanup } = context
  const server = await serve(fixture, cleanup, { argv: ['--log-level', 'info'] })
  const readers = startReaders({ ...context, ...plan, base: server.base, ledger })
  try {
    await Promise.race([momentOf(plan, readers, cleanup.signal), readers.done, server.ended])
    readers.stop()
    if (plan.signal === 'SIGTERM') await readers.done
    const [exit] = await Promise.all([server.end(plan.signal), readers.done])
    cleanup.signal.throwIfAborted()
    const due = plan.signal === 'SIGTERM' ? 0 : plan.signal
    if (exit !== due) throw new Error(`the server ended: ${exit}, not ${due}:\n${server.output()}`)
  } finally {
    readers.stop()
    await server.end('SIGKILL')
    // A client's failure has been thrown above.
    await readers.done.catch(() => undefined)
  }
}

/** Resolves when the signal is due. */
async function momentOf(plan: PhasePlan, readers: Readers, signal: AbortSignal): Promise<void> {
  await sleep(plan.afterMs, undefined, { signal })
  if (plan.isAtAnswer) await readers.nextAnswer()
}

function faultOf(phase: Phase, damage: string | null): PhaseFault | null {
  if (damage !== null) return { kind: 'database', damage }
  const violation = findViolation(phase)
  return violation && { kind: 'rule', violation }
}
