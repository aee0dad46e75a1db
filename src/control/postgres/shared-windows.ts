import { rateWindowMs } from '../rate-windows.js'
import type { RateWindow, RateWindows } from '../rate-windows.js'
import { sql } from '../store/sql.js'
import type { Sql } from '../store/sql.js'
import type { PostgresStore } from './postgres-store.js'

/** Windows that ended are removed with about one of so many requests. */
const removedEvery = 1000

/** The clock of the database: those of servers differ. */
const nowMs = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

/** Counts the requests of all servers of a PostgreSQL; its crash clears the counts. */
export function sharedWindows(store: Pick<PostgresStore, 'all' | 'run'>): RateWindows {
  let added = 0
  return {
    add: async (client, requests) => {
      const [window] = await store.all<RateWindow>(requests === 0 ? read(client) : count(client))
      if (++added % removedEvery === 0) {
        await store.run(sql`DELETE FROM rate_windows WHERE ends_at <= ${nowMs}`)
      }
      return window ?? { requests: 0, endsInMs: rateWindowMs }
    },
  }
}

function read(client: string): Sql {
  return sql`SELECT requests, ends_at - ${nowMs} AS "endsInMs" FROM rate_windows
    WHERE name = ${client} AND ends_at > ${nowMs}`
}

function count(client: string): Sql {
  return sql`INSERT INTO rate_windows AS known (name, ends_at, requests)
    VALUES (${client}, ${nowMs} + ${rateWindowMs}, 1)
    ON CONFLICT (name) DO UPDATE SET
      requests = CASE WHEN known.ends_at <= ${nowMs} THEN 1 ELSE known.requests + 1 END,
      ends_at = CASE WHEN known.ends_at <= ${nowMs} THEN excluded.ends_at ELSE known.ends_at END
    RETURNING requests, greatest(1, ends_at - ${nowMs}) AS "endsInMs"`
}
