interface Score {
  readonly value: number
  readonly atMs: number
}

/** With more clients, the one with the oldest update is removed. */
const clientsMax = 1000

/** A score for each client that halves with time, so that old work counts less. */
export class DecayingScores {
  readonly #halfLifeMs: number
  readonly #now: () => number
  /** The client with the oldest update comes first. */
  readonly #scores = new Map<string, Score>()

  constructor(halfLifeMs: number, now: () => number) {
    this.#halfLifeMs = halfLifeMs
    this.#now = now
  }

  add(client: string, amount: number): void {
    const value = this.of(client) + amount
    this.#scores.delete(client)
    this.#scores.set(client, { value, atMs: this.#now() })
    const [oldest] = this.#scores.keys()
    if (this.#scores.size > clientsMax && oldest !== undefined) this.#scores.delete(oldest)
  }

  /** The client's current score; zero for an unknown client. */
  of(client: string): number {
    const score = this.#scores.get(client)
    return score ? score.value * 0.5 ** ((this.#now() - score.atMs) / this.#halfLifeMs) : 0
  }
}
