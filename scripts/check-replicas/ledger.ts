import { sum } from '../harness/statistics.js'

/** What the clients received, and what they did not. */
export class Ledger {
  readonly #delivered = new Map<string, number>()
  requests = 0
  walks = 0
  /** Requests that failed, outside of the outage; each succeeded when it was sent again. */
  healed = 0
  /** Requests refused while PostgreSQL was away or came back. */
  refused = 0
  /** Rows that failed requests may have cost without delivering them. */
  rowsAtRisk = 0
  /** Where a broken answer had begun to arrive. */
  cutOff = 0

  /** Notes rows that arrived, whatever became of the answer. */
  deliver(subscription: string, rows: number): void {
    this.#delivered.set(subscription, this.deliveredTo(subscription) + rows)
  }

  deliveredTo(subscription: string): number {
    return this.#delivered.get(subscription) ?? 0
  }

  get delivered(): number {
    return sum([...this.#delivered.values()])
  }
}
