import { chargeRows, requireQuota } from '../../access/allowance.js'
import type { QuotaStatus } from '../../access/allowance.js'
import type { Charges } from '../../access/charge-queue.js'
import { CorrectableError } from '../../columns/correction.js'
import { ServiceError } from '../../errors.js'
import type { Resolved } from '../../query/resolved.js'
import type { DatasetCaller } from '../caller.js'
import type { AnswerHead, Payment } from '../page.js'

/** A request that passed every check and may be answered with data. */
export interface Ready<Question extends Resolved> {
  readonly reader: DatasetCaller
  readonly resolved: Question
  readonly head: AnswerHead & { readonly tag: string }
  readonly payment: Payment
}

/**
 * The refusal of an answer that may cost `most` rows, more than are left; a limit of `fits` does
 * not, if there is one above 0. The same for every content of the rows.
 */
export function tooDear(quota: QuotaStatus, most: number, fits: number): ServiceError {
  const { remaining, resetSeconds, resetsOn } = quota
  const fit = fits > 0 ? `: limit=${fits} fits` : ''
  const detail = `Up to ${most} rows needed, ${remaining} left${fit}. Resets on ${resetsOn} (UTC).`
  const options = { retryAfterSeconds: resetSeconds }
  if (fits === 0) return new ServiceError('row_quota_exceeded', detail, options)
  const meant = { kind: 'limit', meant: fits } as const
  return new CorrectableError('row_quota_exceeded', detail, meant, options)
}

/** @throws row_quota_exceeded if no rows are left */
export function openPayment(
  { context, principal, access, limits }: DatasetCaller,
  charges: Charges,
  now: () => number,
): Payment {
  let { quota } = limits
  let charged = 0
  requireQuota(quota)
  context.observe?.({ kind: 'quota', quota })
  return {
    cost: () => ({ charged, quota }),
    pay: async (rows, allOrNone, signal) => {
      signal.throwIfAborted()
      const options = { now: now(), signal, allOrNone }
      const paid = await chargeRows(charges, principal, access, rows, options)
      quota = paid.quota
      if (quota) {
        charged += paid.rows
        context.observe?.({ kind: 'counted', rows: paid.rows })
      }
      context.observe?.({ kind: 'limits', limits: { ...limits, quota } })
      return paid.rows
    },
  }
}
