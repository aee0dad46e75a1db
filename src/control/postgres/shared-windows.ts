import { rateWindowMs } from '../rate-windows.js'
import type { RateWindow, RateWindows } from '../rate-windows.js'
import { sql } from '../store/sql.js'
import type { PostgresStore } from './postgres-store.js'

/** Windows that ended are removed with about one of so many requests. */
const removedEvery = 1000

/** The clock of the database: those of servers differ. */
const nowMs = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

/** Counts the requests of all servers of a PostgreSQL; its crash clears the counts. */
export class SharedWindows implements RateWindows {
  readonly #store: Pick<PostgresStore, 'all' | 'run'>
  #added = 0

  constructor(store: Pick<PostgresStore, 'all' | 'run'>) {
    this.#store = store
  }

  async add(client: string, requests: 0 | 1): Promise<RateWindow> {
    const [window] = requests === 0 ? await this.#read(client) : await this.#add(client)
    if (++this.#added % removedEvery === 0) await this.#removeEnded()
    return window ?? { requests: 0, endsInMs: rateWindowMs }
  }

  #read(client: string): Promise<RateWindow[]> {
    return this.#store.all<RateWindow>(
      sql`SELECT requests, ends_at - ${nowMs} AS "endsInMs" FROM rate_windows
       WHERE name = ${client} AND ends_at > ${nowMs}`,
    )
  }

  #add(client: string): Promise<RateWindow[]> {
    return this.#store.all<RateWindow>(
      sql`INSERT INTO rate_windows AS known (name, ends_at, requests)
       VALUES (${client}, ${nowMs} + ${rateWindowMs}, 1)
       ON CONFLICT (name) DO UPDATE SET
         requests = CASE WHEN known.ends_at <= ${nowMs} THEN 1 ELSE known.requests + 1 END,
         ends_at = CASE WHEN known.ends_at <= ${nowMs} THEN excluded.ends_at ELSE known.ends_at END
       RETURNING requests, greatest(1, ends_at - ${nowMs}) AS "endsInMs"`,
    )
  }

  async #removeEnded(): Promise<void> {
    await this.#store.run(sql`DELETE FROM rate_windows WHERE ends_at <= ${nowMs}`)
  }
}
