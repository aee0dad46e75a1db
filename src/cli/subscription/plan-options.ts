import type { Command } from 'commander'
import type { Order } from '../../control/orders.js'
import type { ReceiptNumber } from '../../control/receipts.js'
import type { Grant } from '../../control/grants.js'
import type { Subscription } from '../../control/subscriptions.js'
import { subscriptionState } from '../../control/tokens/token-state.js'
import { badRequest } from '../../errors.js'
import { priceRub } from '../../registry/price.js'
import type { Plan, Registry } from '../../registry/registry.js'
import { isoTime, isoTimeOrNull, quoted } from '../../text.js'
import type { CliParts } from '../parts.js'
import { count, day } from '../print.js'
import { listLines } from '../table.js'
import { findPlan } from '../read-registry.js'

export interface PlannedGrant {
  readonly dataset: string
  readonly plan: Plan
}

/** The dataset and plan in `DATASET:PLAN`. @throws bad_request that says what to correct */
export function readGrant(registry: Registry, text: string): PlannedGrant {
  const [dataset, name, ...rest] = text.split(':')
  if (!dataset || !name || rest.length > 0) {
    throw badRequest(`--plan must be DATASET:PLAN, such as financials:pro, got ${quoted(text)}.`)
  }
  return { dataset, plan: findPlan(registry, dataset, name) }
}

/** A whole number of up to 15 digits. @throws bad_request that names the option and `others` */
export function readWhole(text: string, option: string, others = ''): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw badRequest(`${option} must be a whole number${others}, got ${quoted(text)}.`)
}

/** Adds `--months` to a command that sells time. */
export function addMonthsOption(command: Command): Command {
  return command.option('--months <number>', '1 to 120; a year costs as much as 10 months', '1')
}

/** The plans of stored grants. @throws bad_request for a plan that left the registry */
export function plansOfGrants(
  registry: Registry,
  grants: readonly Grant[],
): readonly PlannedGrant[] {
  return grants.map(({ dataset, plan }) => ({ dataset, plan: findPlan(registry, dataset, plan) }))
}

/** The price of these grants together for these months, in whole roubles. */
export function priceOf(grants: readonly PlannedGrant[], months: number): number {
  return priceRub(
    grants.map(({ plan }) => plan),
    months,
  )
}

/** Grants and the cap over all datasets, as a table. */
export function planLines(
  { stdout }: CliParts,
  grants: readonly PlannedGrant[],
  globalRows: number | null,
): readonly string[] {
  const table = listLines(stdout, grants, {
    DATASET: (each) => each.dataset,
    PLAN: ({ plan }) => plan.name,
    'ROWS A MONTH': ({ plan }) => plan.rowsPerMonth,
    HISTORY: ({ plan }) => historyText(plan),
    'RUB A MONTH': ({ plan }) => plan.priceRub,
  })
  const cap =
    globalRows === null ? [] : [`All datasets together: ${count(stdout, globalRows)} rows a month.`]
  return [...table, ...cap]
}

/** The price of these months, as a line. */
export function priceLine({ stdout }: CliParts, price: number, months: number): string {
  const year = months >= 12 ? ' (a year costs as much as 10 months)' : ''
  const time = months === 1 ? '1 month' : `${months} months`
  return `Price: ${count(stdout, price)} RUB for ${time}${year}`
}

function historyText({ history }: Plan): string {
  if (history === 'all') return 'all'
  return history === 1 ? 'latest year' : `latest ${history} years`
}

/** A subscription in JSON output. */
export function subscriptionJson(subscription: Subscription, now: number) {
  return {
    subscription: subscription.subscriptionId,
    email: subscription.email,
    language: subscription.language,
    state: subscriptionState(subscription, now),
    created_at: isoTime(subscription.createdAt),
    expires_at: isoTime(subscription.expiresAt),
    cancelled_at: isoTimeOrNull(subscription.cancelledAt),
    global_rows: subscription.globalRows,
    grants: subscription.grants.map(({ dataset, plan }) => ({ dataset, plan })),
  }
}

/** An order in JSON output. */
export function orderJson({ effect, ...order }: Order) {
  return {
    order: order.orderId,
    kind: order.kind,
    state: order.state,
    email: order.email,
    language: order.language,
    subscription: order.subscriptionId,
    items: order.items,
    months: order.months,
    amount_rub: order.amountRub,
    by_owner: order.byOwner,
    buyer: order.buyer,
    receipt: order.receipt && receiptText(order.receipt),
    ordered_at: isoTime(order.orderedAt),
    pay_until: isoTime(order.payUntil),
    takes_effect_at: isoTimeOrNull(order.takesEffectAt),
    done_at: isoTimeOrNull(order.doneAt),
    after: effect && {
      grants: effect.grants,
      global_rows: effect.globalRows,
      expires_at: isoTime(effect.expiresAt),
    },
  }
}

/** `2026-15` */
export function receiptText({ year, number }: ReceiptNumber): string {
  return `${year}-${number}`
}

/** `financials:pro procurement:start`; what is removed at the end of a term has no plan. */
export function grantsText(grants: readonly Grant[]): string {
  return grants.map(({ dataset, plan }) => `${dataset}:${plan || 'removed'}`).join(' ')
}

/** `confirmed`, or `from 2027-01-15` where it takes effect later. */
export function orderState({ state, takesEffectAt }: Order): string {
  return takesEffectAt === null ? state : `from ${day(takesEffectAt)}`
}
