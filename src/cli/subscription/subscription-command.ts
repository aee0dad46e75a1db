import type { Command } from 'commander'
import { rowBudget } from '../../access/allowance.js'
import { connectionState, listConnections } from '../../control/connections/connections.js'
import { ordersOfSubscription } from '../../control/orders.js'
import type { Order } from '../../control/orders.js'
import { listSubscriptions, showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { subscriptionState } from '../../control/tokens/token-state.js'
import { listTokens } from '../../control/tokens/tokens.js'
import { periodEnd, periodOf, readUsage } from '../../control/usage.js'
import type { Usage } from '../../control/usage.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { isoTime } from '../../text.js'
import { addCommand, addGroup, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { count, day, printJson, printLines } from '../print.js'
import { registryIfReadable } from '../read-registry.js'
import { readFilledStore, readStore, storeName } from '../state.js'
import { tableLines } from '../table.js'
import { tokenJson, tokenTable } from '../token/token-table.js'
import { addSubscriptionCreate } from './subscription-create.js'
import { addSubscriptionChanges } from './subscription-edits.js'
import { grantsText, orderJson, subscriptionJson } from './subscription-json.js'

/** `das subscription …`: sells access and lists what was sold. */
export function addSubscription(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'subscription',
    'Sell access, change it, and list what was sold.',
    'das subscription list',
  )
  addSubscriptionCreate(group, parts)
  addCommand(group, {
    usage: 'list',
    description: 'List all subscriptions, including expired and cancelled ones.',
    settings: ['state'],
    json: 'print [{subscription, email, created_at, expires_at, …, grants}]',
    examples: ['das subscription list'],
  }).action((flags: Flags) => list(parts, flags))
  addCommand(group, {
    usage: 'show <subscription>',
    description:
      "Show a subscription: grants, this month's usage, orders, tokens, live connections.",
    settings: ['registry', 'state'],
    json: 'print {subscription, email, …, grants: [{dataset, plan, rows}], orders, tokens, …}',
    examples: ['das subscription show sub_0123456789abcdef'],
  }).action((id: string, flags: Flags) => show(parts, id, flags))
  addSubscriptionChanges(group, parts)
}

async function list(parts: CliParts, flags: Flags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  const subscriptions = (await readStore(parts, state, listSubscriptions)) ?? []
  if (flags.json) return printJson(parts, subscriptions.map(subscriptionJson))
  if (subscriptions.length === 0) {
    printLines(
      parts,
      `There are no subscriptions in ${storeName(parts, state)} yet. Make one with: ` +
        'das subscription create --email buyer@example.org --plan DATASET:PLAN',
    )
    return
  }
  const titles = ['SUBSCRIPTION', 'E-MAIL', 'STATE', 'MADE', 'EXPIRES', 'GRANTS']
  const rows = subscriptions.map((each) => [
    each.subscriptionId,
    each.email,
    subscriptionState(each, parts.clock.now()),
    day(each.createdAt),
    day(each.expiresAt),
    grantsText(each.grants),
  ])
  printLines(parts, ...tableLines(parts.stdout, titles, rows))
}

async function show(parts: CliParts, id: string, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const now = parts.clock.now()
  const { subscription, usage, orders, tokens, connections } = await readFilledStore(
    parts,
    config.state,
    async (store) => ({
      subscription: await showSubscription(store, id),
      usage: await readUsage(store, id, periodOf(now)),
      orders: await ordersOfSubscription(store, id),
      tokens: await listTokens(store, id),
      connections: await listConnections(store, id),
    }),
  )
  const budgets = budgetsOf(subscription, usage, await registryIfReadable(parts, config.registry))
  const live = connections.filter((each) => connectionState(each, now) === 'live').length
  if (flags.json) {
    return printJson(parts, {
      ...subscriptionJson(subscription),
      period: usage.period,
      resets_at: isoTime(periodEnd(usage.period)),
      global: budgets.global,
      grants: budgets.grants,
      orders: orders.map(orderJson),
      tokens: tokens.map(tokenJson),
      live_connections: live,
    })
  }
  printLines(
    parts,
    `Subscription ${subscription.subscriptionId} of ${subscription.email}`,
    `${subscriptionState(subscription, now)}; made ${day(subscription.createdAt)}, ` +
      `expires ${day(subscription.expiresAt)}`,
    '',
    ...tableLines(
      parts.stdout,
      ['DATASET', 'PLAN', 'ROWS A MONTH', 'USED', 'LEFT'],
      [
        ...budgets.grants.map(({ dataset, plan, rows }) => [
          dataset,
          plan,
          rows.limit,
          rows.used,
          rows.remaining,
        ]),
        ...(budgets.global
          ? [['all', '', budgets.global.limit, budgets.global.used, budgets.global.remaining]]
          : []),
      ],
    ),
    `Used in ${usage.period}; resets on ${day(periodEnd(usage.period))} (UTC).`,
    '',
    ...orderLines(parts, orders),
    '',
    ...tokenTable(parts, tokens, [subscription]),
    '',
    `Live connections of agents: ${count(parts.stdout, live)}`,
  )
}

function orderLines(parts: CliParts, orders: readonly Order[]): readonly string[] {
  const titles = ['ORDERED', 'WHAT', 'STATE', 'MONTHS', 'RUB', 'EXPIRES', 'GRANTS', 'ROWS OVER ALL']
  const rows = orders.map(({ effect, ...order }) => [
    day(order.orderedAt),
    order.kind,
    order.state,
    order.months,
    order.amountRub,
    effect && day(effect.expiresAt),
    grantsText(effect?.grants ?? order.items),
    effect && effect.globalRows,
  ])
  return tableLines(parts.stdout, titles, rows)
}

/** The rows used and left; a limit is null when the registry or its plan can't be read. */
function budgetsOf({ grants, globalRows }: Subscription, usage: Usage, registry: Registry | null) {
  return {
    global: globalRows === null ? null : rowBudget(globalRows, usage.total),
    grants: grants.map(({ dataset, plan }) => {
      const limit = planOf(registry, { dataset, plan })?.rowsPerMonth
      const used = usage.datasets.get(dataset) ?? 0
      const rows =
        limit === undefined ? { limit: null, used, remaining: null } : rowBudget(limit, used)
      return { dataset, plan, rows }
    }),
  }
}
