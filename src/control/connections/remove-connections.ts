import { sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** A connection whose agent does not take its secrets in this time is removed. */
export const waitingLifeMs = 10 * minuteMs

/** Ended connections can be listed for this time. */
const endedLifeMs = 30 * dayMs

/** A used code is kept this long after its end: it may come a second time. */
const expiredLifeMs = 10 * minuteMs

/** Of each table at once, so that the server is not blocked. */
const removedMax = 1000

/**
 * Removes expired secrets, connections that no agent took, those that ended long ago, and those
 * whose last secret has expired. Returns the number of removed rows.
 */
export async function removeConnections(store: ControlStore, now: number): Promise<number> {
  const expiredBefore = now - expiredLifeMs
  const removable = sql`SELECT id FROM connections c
    WHERE ended_at < ${now - endedLifeMs}
      OR (connected_at IS NULL AND created_at < ${now - waitingLifeMs})
      OR (ended_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM connection_secrets x WHERE x.connection_id = c.id))`
  const isIdle = (await store.all(sql`${removable} LIMIT 1`)).length === 0
  if (isIdle && !(await hasExpired(store, expiredBefore))) return 0
  return await store.write(async (tx) => {
    const secrets = await tx.run(
      sql`DELETE FROM connection_secrets WHERE hash IN (
         SELECT hash FROM connection_secrets
         WHERE expires_at < ${expiredBefore} LIMIT ${removedMax})`,
    )
    const found = await tx.all<{ id: string }>(sql`${removable} LIMIT ${removedMax}`)
    for (const { id } of found) {
      await tx.run(sql`DELETE FROM connection_secrets WHERE connection_id = ${id}`)
      await tx.run(sql`DELETE FROM connections WHERE id = ${id}`)
    }
    return secrets + found.length
  })
}

async function hasExpired(store: ControlStore, expiredBefore: number): Promise<boolean> {
  const expired = await store.all(
    sql`SELECT 1 FROM connection_secrets WHERE expires_at < ${expiredBefore} LIMIT 1`,
  )
  return expired.length > 0
}
