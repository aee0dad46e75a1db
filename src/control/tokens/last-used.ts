import { sql, sqlText } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'

const flushIntervalMs = 60_000

/** Ids that wait for a flush; further ones are not noted until then. */
const pendingMax = 100_000

/**
 * Notes when tokens, connections and sessions were last used: in memory, written in one
 * transaction at most once a minute and on `close`. A crash loses up to a minute. A failed write
 * fails no request: the notes stay for the next one, and the first failure of a series goes to
 * `report`.
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

  /** Notes a use of a `tok_…`, `con_…` or `ses_…`; writes all notes once a minute. */
  note(id: string): void {
    const now = this.#now()
    if (this.#pending.has(id) || this.#pending.size < pendingMax) {
      this.#pending.set(id, now)
    }
    const elapsedMs = now - this.#flushedAt
    // Negative when the clock was set back.
    if (elapsedMs >= flushIntervalMs || elapsedMs < 0) void this.flush()
  }

  /** Writes all notes; call it before the store is closed. */
  close(): Promise<void> {
    return this.flush()
  }

  /** Writes all notes now. Never rejects. */
  async flush(): Promise<void> {
    this.#flushedAt = this.#now()
    const uses = [...this.#pending]
    if (uses.length === 0) return
    try {
      await this.#store.write(async (tx) => {
        for (const [id, usedAt] of uses) await saveUse(tx, id, usedAt)
      })
      for (const [id, usedAt] of uses) {
        if (this.#pending.get(id) === usedAt) this.#pending.delete(id)
      }
      this.#isFailing = false
    } catch (cause) {
      if (!this.#isFailing) this.#report(cause)
      this.#isFailing = true
    }
  }
}

const tables: Readonly<Record<string, string>> = { con: 'connections', ses: 'sessions' }

async function saveUse(store: ControlStore, id: string, usedAt: number): Promise<void> {
  const table = sqlText(tables[id.slice(0, id.indexOf('_'))] ?? 'tokens')
  await store.run(
    sql`UPDATE ${table}
     SET last_used_at = CASE WHEN last_used_at > ${usedAt} THEN last_used_at ELSE ${usedAt} END
     WHERE id = ${id}`,
  )
}
