import type { QuotaStatus } from '../../access/allowance.js'
import type { Summarized } from '../../engine/engine.js'
import { ServiceError } from '../../errors.js'
import { summaryCharge } from '../../query/summary/charge.js'
import type { ResolvedSummary } from '../../query/summary/resolve-summary.js'
import type { GroupsAnswer, Room } from '../page.js'
import type { Ready } from './payment.js'

/**
 * Pays for as many groups as the door can send, all or none: totals over a part would mislead.
 * @throws row_quota_exceeded if they cost more rows than are left
 */
export async function payGroups(
  { reader, resolved, head, payment }: Ready<ResolvedSummary>,
  { rows, groups, rowsMet, file }: Summarized,
  room: Room | undefined,
): Promise<GroupsAnswer> {
  const { context } = reader
  const { summary, columns, chargePerGroup } = resolved
  const sent = file ? rows.length : (room?.rowsThatFit(rows, columns) ?? rows.length)
  const charge = summaryCharge(sent, summary, chargePerGroup)
  const paid = charge === 0 ? 0 : await payment.pay(charge, true, context.signal)
  const cost = payment.cost()
  context.observe?.({ kind: 'charge', charge: { rows: charge, paid, quota: cost.quota } })
  if (cost.quota && paid < charge) throw tooDear(charge, chargePerGroup, cost.quota)
  context.observe?.({ kind: 'sent', rows: sent })
  return {
    kind: 'groups',
    ...head,
    ...cost,
    rows: file ? [file] : rows.slice(0, sent),
    columns,
    sent,
    groups,
    rowsMet: charge === 0 ? null : rowsMet,
    truncated: groups > sent,
  }
}

/** A smaller limit may fit. */
function tooDear(charge: number, chargePerGroup: number, quota: QuotaStatus): ServiceError {
  const { remaining, resetSeconds, resetsOn } = quota
  const limit = Math.floor(remaining / chargePerGroup)
  const fit = limit > 0 ? `; limit=${limit} fits` : ''
  return new ServiceError(
    'row_quota_exceeded',
    `${charge} rows needed, ${remaining} left${fit}. Resets on ${resetsOn} (UTC).`,
    {
      retryAfterSeconds: resetSeconds,
      correction: limit > 0 ? { kind: 'limit', meant: limit } : undefined,
    },
  )
}
