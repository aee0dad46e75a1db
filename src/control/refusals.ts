import type { ErrorCode } from '../errors.js'
import { Rounds } from '../rounds.js'
import type { Clock } from '../clock.js'
import { sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

export const dayMs = 24 * 3_600_000
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
  /** Code → requests, by day. */
  #waiting = new Map<number, Map<ErrorCode, number>>()

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
    this.#add(Math.floor(this.#parts.clock.now() / dayMs), code, 1)
  }

  /** Writes what was counted until now. Never rejects. */
  flush(): Promise<void> {
    return this.#rounds.runAgain()
  }

  async close(): Promise<void> {
    await this.flush()
    await this.#rounds.close()
  }

  #add(day: number, code: ErrorCode, requests: number): void {
    const counts = this.#waiting.get(day) ?? new Map<ErrorCode, number>()
    this.#waiting.set(day, counts.set(code, (counts.get(code) ?? 0) + requests))
  }

  async #write(): Promise<void> {
    const counted = [...this.#waiting].flatMap(([day, counts]) =>
      [...counts].map(([code, requests]) => ({ day, code, requests })),
    )
    if (counted.length === 0) return
    this.#waiting = new Map()
    try {
      await this.#parts.store.write(async (tx) => {
        for (const each of counted) await addRefusals(tx, each)
      })
    } catch (cause) {
      for (const { day, code, requests } of counted) this.#add(day, code, requests)
      throw cause
    }
  }
}

async function addRefusals(
  store: ControlStore,
  { day, code, requests }: { day: number; code: ErrorCode; requests: number },
): Promise<void> {
  await store.run(
    sql`INSERT INTO refusals (day, code, requests) VALUES (${day}, ${code}, ${requests})
     ON CONFLICT (day, code) DO UPDATE SET requests = refusals.requests + excluded.requests`,
  )
  await store.run(sql`DELETE FROM refusals WHERE day < ${day - keptDays}`)
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
