import type { ErrorCode } from '../errors.js'
import { Rounds } from '../rounds.js'
import { dayMs } from '../clock.js'
import type { Clock } from '../clock.js'
import { insertInto, sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

const flushEveryMs = 60_000
/** Counts are removed after this time. */
const keptDays = 400

interface RefusalParts {
  readonly store: ControlStore
  readonly clock: Pick<Clock, 'now' | 'every'>
  /** Takes the error of a flush that failed; the next one tries again. */
  readonly report: (cause: unknown) => void
}

/**
 * Counts refused requests by day and error code: in memory, written once a minute and on `close`.
 * A crash loses up to a minute.
 */
export class RefusalCounts {
  readonly #parts: RefusalParts
  readonly #rounds: Rounds
  /** Requests by day and code: `20454 not_found`. */
  readonly #waiting = new Map<string, number>()

  constructor(parts: RefusalParts) {
    this.#parts = parts
    const { clock, report } = parts
    const work = () => this.#write()
    this.#rounds = new Rounds({ every: clock.every, everyMs: flushEveryMs, work, report })
  }

  start(): void {
    void this.#rounds.start()
  }

  /** Counts a request. */
  note(code: ErrorCode): void {
    const key = `${Math.floor(this.#parts.clock.now() / dayMs)} ${code}`
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + 1)
  }

  /** Writes what was counted until now. */
  async close(): Promise<void> {
    await this.#rounds.runAgain()
    await this.#rounds.close()
  }

  async #write(): Promise<void> {
    const counted = [...this.#waiting]
    if (counted.length === 0) return
    await this.#parts.store.write(async (tx) => {
      for (const [key, requests] of counted) await addRefusals(tx, key, requests)
    })
    for (const [key, requests] of counted) {
      const left = (this.#waiting.get(key) ?? 0) - requests
      if (left > 0) this.#waiting.set(key, left)
      else this.#waiting.delete(key)
    }
  }
}

async function addRefusals(store: ControlStore, key: string, requests: number): Promise<void> {
  const [day = '', code = ''] = key.split(' ')
  await store.run(
    sql`${insertInto('refusals', { day: Number(day), code, requests })}
     ON CONFLICT (day, code) DO UPDATE SET requests = refusals.requests + excluded.requests`,
  )
  await store.run(sql`DELETE FROM refusals WHERE day < ${Number(day) - keptDays}`)
}

/** Refused requests by error code, from a day on; the most frequent first. */
export function refusalsSince(
  store: ControlStore,
  day: number,
): Promise<readonly { readonly code: string; readonly requests: number }[]> {
  return store.all(
    sql`SELECT code, CAST(sum(requests) AS bigint) AS requests FROM refusals WHERE day >= ${day}
     GROUP BY code ORDER BY 2 DESC, code`,
  )
}
