import type { QuotaStatus } from '../../access/allowance.js'
import type { Summarized } from '../../engine/engine.js'
import type { ServiceError } from '../../errors.js'
import { summaryCharge } from '../../query/summary/charge.js'
import type { ResolvedSummary } from '../../query/summary/resolve-summary.js'
import type { GroupsAnswer, Room } from '../page.js'
import { tooDear } from './payment.js'
import type { Ready } from './payment.js'

/**
 * Refuses a summary before it is read, by the most that it can cost. A refusal by what it found
 * would tell how many groups there are, and so any value, for nothing.
 * @throws row_quota_exceeded if that is more rows than are left
 */
export function requireGroupsQuota({ resolved, payment }: Ready<ResolvedSummary>): void {
  const { quota } = payment.cost()
  if (quota && mostCharge(resolved) > quota.remaining) throw tooDearFor(resolved, quota)
}

/** An answer has at most `limit` groups, which resolving has bounded. */
function mostCharge(resolved: ResolvedSummary): number {
  const { summary, chargePerGroup } = resolved
  const groups = summary.groups.length === 0 ? 1 : summary.limit + restGroups(resolved)
  return summaryCharge(groups, summary, chargePerGroup)
}

/** The groups beside those that the limit counts. */
function restGroups({ pivot }: ResolvedSummary): number {
  return pivot?.hasRest ? 1 : 0
}

/** Groups as they were found. */
export interface FoundGroups {
  /** The summary with all its columns, those of a pivot too. */
  readonly whole: ResolvedSummary
  readonly found: Summarized
}

/**
 * Pays for as many groups as the door can send, all or none: totals over a part would mislead.
 * @throws row_quota_exceeded if another request has used the rows that were left
 */
export async function payGroups(
  { reader, resolved, head, payment }: Ready<ResolvedSummary>,
  { whole, found: { rows, groups, rowsMet, file } }: FoundGroups,
  room: Room | undefined,
): Promise<GroupsAnswer> {
  const { context } = reader
  const { summary, columns, headings, chargePerGroup } = whole
  const sent = file ? rows.length : (room?.rowsThatFit(rows, columns) ?? rows.length)
  const charge = summaryCharge(sent, summary, chargePerGroup)
  const paid = charge === 0 ? 0 : await payment.pay(charge, true, context.signal)
  const cost = payment.cost()
  context.observe?.({ kind: 'charge', charge: { rows: charge, paid, quota: cost.quota } })
  if (cost.quota && paid < charge) throw tooDearFor(resolved, cost.quota)
  context.observe?.({ kind: 'sent', rows: sent })
  return {
    kind: 'groups',
    ...head,
    headings,
    ...cost,
    rows: file ? [file] : rows.slice(0, sent),
    columns,
    sent,
    groups,
    rowsMet: charge === 0 ? null : rowsMet,
    truncated: groups > Math.min(sent, resolved.summary.limit),
  }
}

/** A smaller limit may fit. */
function tooDearFor(resolved: ResolvedSummary, quota: QuotaStatus): ServiceError {
  const { summary, chargePerGroup } = resolved
  const groups = Math.floor(quota.remaining / chargePerGroup) - restGroups(resolved)
  const fits = summary.groups.length === 0 ? 0 : Math.max(groups, 0)
  return tooDear(quota, mostCharge(resolved), fits)
}
