import { ChargeQueue } from '../../src/access/charge-queue.js'
import type { Charge } from '../../src/control/usage.js'
import { SqliteFile } from '../../src/control/store/sqlite-file.js'
import type { Sql } from '../../src/control/store/sql.js'
import { WriteHealth } from '../../src/control/write-health.js'

/** Plants a fault, to prove that the simulation finds it; the result removes it. */
export const mutations = {
  'one row of each page is not charged': () => {
    const { charge } = ChargeQueue.prototype
    ChargeQueue.prototype.charge = async function paid(given: Charge, signal: AbortSignal) {
      const rows = Math.max(0, given.rows - 1)
      const result = await charge.call(this, { ...given, rows }, signal)
      return { ...result, granted: result.granted + given.rows - rows }
    }
    return () => {
      ChargeQueue.prototype.charge = charge
    }
  },
  'a revoked token works': () => {
    const { all } = SqliteFile.prototype
    SqliteFile.prototype.all = function live<Row>(statement: Sql): Row[] {
      const rows = all.call(this, statement) as Row[]
      return rows.map((row) => ({ ...row, ...(isToken(row) && { revokedAt: null }) }))
    }
    return () => {
      SqliteFile.prototype.all = all
    }
  },
  'a confirmed order waits on': () => {
    const { all } = SqliteFile.prototype
    SqliteFile.prototype.all = function open<Row>(statement: Sql): Row[] {
      const rows = all.call(this, statement) as Row[]
      return rows.map((row) => ({ ...row, ...(isConfirmed(row) && { state: 'waiting' }) }))
    }
    return () => {
      SqliteFile.prototype.all = all
    }
  },
  'readyz is always ready': () => {
    const { isWritable } = WriteHealth.prototype
    WriteHealth.prototype.isWritable = () => Promise.resolve(true)
    return () => {
      WriteHealth.prototype.isWritable = isWritable
    }
  },
} as const satisfies Readonly<Record<string, () => () => void>>

export type Mutation = keyof typeof mutations

/** A row of what a request is admitted by. */
function isToken(row: unknown): boolean {
  return typeof row === 'object' && row !== null && 'tokenExpiresAt' in row
}

/** A row of a confirmed order, whole. */
function isConfirmed(row: unknown): boolean {
  if (typeof row !== 'object' || row === null || !('payUntil' in row)) return false
  return 'state' in row && row.state === 'confirmed'
}
