import type { ConnectionOptions } from './connection-settings.js'
import { versionOf } from './postgres-migrations.js'
import { PostgresPool } from './postgres-pool.js'
import { sql } from '../store/sql.js'
import type { Connection } from './postgres-pool.js'

/** A PostgreSQL as an operator needs to know it. */
export interface DatabaseFacts {
  /** Of the control store; 0 = it has no tables. */
  readonly schemaVersion: number
  /** How much its clock is ahead of this machine's; exact to half the time of its answer. */
  readonly clockAheadMs: number
  /** A standby, or a database that became read-only. */
  readonly isReadOnly: boolean
}

/**
 * Asks a PostgreSQL about itself, and changes nothing. `now` in ms since the epoch.
 * @throws Error, for the operator, when this is not the URL of a PostgreSQL; service_unavailable
 */
export async function examineDatabase(
  url: string,
  now: () => number,
  options: ConnectionOptions = {},
): Promise<DatabaseFacts> {
  const pool = new PostgresPool(url, { ...options, size: 1 })
  try {
    return await pool.connected(async (connection) => ({
      schemaVersion: await versionOf(connection),
      clockAheadMs: await clockAhead(connection, now),
      isReadOnly: await isReadOnly(connection),
    }))
  } finally {
    await pool.close()
  }
}

async function clockAhead(connection: Connection, now: () => number): Promise<number> {
  const before = now()
  const [row] = await connection.all<{ ms: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`,
  )
  return Math.round((row?.ms ?? 0) - (before + now()) / 2)
}

async function isReadOnly(connection: Connection): Promise<boolean> {
  const [row] = await connection.all<{ setting: string }>(
    sql`SELECT current_setting('transaction_read_only') AS setting`,
  )
  return row?.setting === 'on'
}
