import { chargeRows, requireQuota } from '../access/allowance.js'
import type { QuotaStatus } from '../access/allowance.js'
import type { Charges } from '../access/charge-queue.js'
import type { DatasetCaller } from './caller.js'

/** Pays for the rows of one request. */
export interface Payment {
  /**
   * Charges rows durably and returns how many may be sent: fewer if the quota ends, or none with
   * `allOrNone`.
   */
  readonly pay: (rows: number, allOrNone: boolean, signal: AbortSignal) => Promise<number>
  /** The quota after the last charge; undefined if no rows are counted. */
  readonly quota: () => QuotaStatus | undefined
}

/** @throws row_quota_exceeded if no rows are left */
export function openPayment(
  { context, principal, access, limits }: DatasetCaller,
  charges: Charges,
  now: () => number,
): Payment {
  let { quota } = limits
  requireQuota(quota)
  context.observe?.({ kind: 'quota', quota })
  return {
    quota: () => quota,
    pay: async (rows, allOrNone, signal) => {
      signal.throwIfAborted()
      const options = { now: now(), signal, allOrNone }
      const paid = await chargeRows(charges, principal, access, rows, options)
      quota = paid.quota
      context.observe?.({ kind: 'limits', limits: { ...limits, quota } })
      return paid.rows
    },
  }
}
