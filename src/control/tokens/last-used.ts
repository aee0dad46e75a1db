import type { ControlStore } from '../store/store.js'

const flushIntervalMs = 60_000

/** Tokens that wait for a flush; further tokens are not noted until then. */
const pendingMax = 100_000

/**
 * Notes when tokens were last used, for the operator: in memory, written in one transaction at most
 * once a minute and on `close`. A crash loses up to a minute. A failed write fails no request: the
 * notes stay for the next one, and the first failure of a series goes to `report`.
 */
export class LastUsed {
  readonly #store: ControlStore
  readonly #now: () => number
  readonly #report: (cause: unknown) => void
  readonly #pending = new Map<string, number>()
  #flushedAt: number
  #isFailing = false

  constructor(store: ControlStore, now: () => number, report: (cause: unknown) => void) {
    this.#store = store
    this.#now = now
    this.#report = report
    this.#flushedAt = now()
  }

  /** Notes a use of this token now; writes all notes when the last write is a minute old. */
  note(tokenId: string): void {
    const now = this.#now()
    if (this.#pending.has(tokenId) || this.#pending.size < pendingMax) {
      this.#pending.set(tokenId, now)
    }
    const elapsedMs = now - this.#flushedAt
    // Negative when the clock was set back.
    if (elapsedMs >= flushIntervalMs || elapsedMs < 0) this.#flush(now)
  }

  /** Writes all notes; call it before the store is closed. */
  close(): void {
    this.#flush(this.#now())
  }

  #flush(now: number): void {
    this.#flushedAt = now
    if (this.#pending.size === 0) return
    try {
      this.#store.write(() => {
        for (const [tokenId, usedAt] of this.#pending) saveUse(this.#store, tokenId, usedAt)
      })
      this.#pending.clear()
      this.#isFailing = false
    } catch (cause) {
      if (!this.#isFailing) this.#report(cause)
      this.#isFailing = true
    }
  }
}

function saveUse(store: ControlStore, tokenId: string, usedAt: number): void {
  store.run(
    `UPDATE tokens SET last_used_at = max(coalesce(last_used_at, @usedAt), @usedAt)
     WHERE id = @tokenId`,
    { tokenId, usedAt },
  )
}
