import type { ControlStore } from './store.js'

const flushIntervalMs = 60_000

/** Ids that wait for a flush; one over it is noted at its next use after the flush. */
const pendingMax = 100_000

/**
 * Notes when tokens were last used, for the operator's eyes: in memory, written in one transaction
 * at most once a minute and on `close`. A crash forgets up to a minute; nothing is decided by it.
 */
export class LastUsed {
  readonly #store: ControlStore
  readonly #now: () => number
  readonly #pending = new Map<string, number>()
  #flushedAt: number

  constructor(store: ControlStore, now: () => number) {
    this.#store = store
    this.#now = now
    this.#flushedAt = now()
  }

  /**
   * Notes a use of this token now; writes all noted ones when the last write is a minute old.
   *
   * @throws service_unavailable when that write fails; the notes stay for the next one.
   */
  note(tokenId: string): void {
    const now = this.#now()
    if (this.#pending.has(tokenId) || this.#pending.size < pendingMax) {
      this.#pending.set(tokenId, now)
    }
    const elapsedMs = now - this.#flushedAt
    // A clock set back would otherwise hold the notes until it has caught up.
    if (elapsedMs >= flushIntervalMs || elapsedMs < 0) this.#flush(now)
  }

  /**
   * Writes what is noted; call it before the store is closed.
   *
   * @throws service_unavailable when the write fails.
   */
  close(): void {
    this.#flush(this.#now())
  }

  #flush(now: number): void {
    this.#flushedAt = now
    if (this.#pending.size === 0) return
    this.#store.write(() => {
      for (const [tokenId, usedAt] of this.#pending) saveUse(this.#store, tokenId, usedAt)
    })
    this.#pending.clear()
  }
}

function saveUse(store: ControlStore, tokenId: string, usedAt: number): void {
  store.run(
    `UPDATE tokens SET last_used_at = max(coalesce(last_used_at, @usedAt), @usedAt)
     WHERE id = @tokenId`,
    { tokenId, usedAt },
  )
}
