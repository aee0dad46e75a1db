import type { Cost, Question } from './question.js'
import type { Outcome } from './outcome.js'
import type { Seen } from './rule.js'

/** What the clients of one phase received. */
export interface Ledger {
  readonly note: (question: Question, outcome: Outcome) => void
  readonly seen: () => readonly Seen[]
  readonly counts: () => Counts
}

/** Requests, by how they ended. */
export interface Counts {
  /** Answered in full, with or without rows. */
  readonly whole: number
  /** Answered with a refusal. */
  readonly refused: number
  /** Sent, and not answered to the end. */
  readonly broken: number
  /** Never sent, because the server no longer listened. */
  readonly unsent: number
}

/** An empty ledger; what it holds grows with subscriptions and datasets, not with requests. */
export function openLedger(): Ledger {
  const seen = new Map<string, Seen>()
  const counts = { whole: 0, refused: 0, broken: 0, unsent: 0 }
  const note = ({ subscriber, dataset, cost }: Question, outcome: Outcome) => {
    counts[outcome.kind] += 1
    const key = `${subscriber.id} ${dataset}`
    const { delivered, attempted } = seen.get(key) ?? { delivered: 0, attempted: 0 }
    const { least, most } = bounds(outcome, cost)
    seen.set(key, {
      subscription: subscriber.id,
      dataset,
      delivered: delivered + least,
      attempted: attempted + most,
    })
  }
  return { note, seen: () => [...seen.values()], counts: () => ({ ...counts }) }
}

/** The rows that a request cost at least and at most, by what came of it. */
function bounds(outcome: Outcome, cost: Cost): { least: number; most: number } {
  switch (outcome.kind) {
    case 'whole':
      return { least: outcome.rows, most: outcome.rows }
    case 'broken':
      return { least: outcome.rows, most: cost.kind === 'whole' ? cost.rows : cost.most }
    case 'refused':
    case 'unsent':
      return { least: 0, most: 0 }
  }
}
