import type { Command } from 'commander'
import { rowBudget } from '../../access/allowance.js'
import type { Config } from '../../config.js'
import { connectionState, listConnections } from '../../control/connections/connections.js'
import { ordersOfSubscription } from '../../control/orders.js'
import { listSubscriptions, showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { subscriptionState } from '../../control/tokens/token-state.js'
import { listTokens } from '../../control/tokens/tokens.js'
import { periodEnd, periodOf, readUsage } from '../../control/usage.js'
import type { Usage } from '../../control/usage.js'
import { planOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { isoTime } from '../../text.js'
import { addGroup, addPrinted } from '../command.js'
import type { Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { count, day } from '../print.js'
import { linesOrNone, listLines } from '../table.js'
import { registryIfReadable } from '../read-registry.js'
import { readFilledStore, readStore, storeName } from '../state.js'
import { tokensJson, tokenTable } from '../token-table.js'
import { addSubscriptionCreate } from './subscription-create.js'
import { addSubscriptionChanges } from './subscription-edits.js'
import { grantsText, orderJson, orderState, subscriptionJson } from './plan-options.js'

/** `das subscription …`: sells access and lists what was sold. */
export function addSubscription(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'subscription',
    'Sell access, change it, and list what was sold.',
    'das subscription list',
  )
  addSubscriptionCreate(group, parts)
  addPrinted(group, parts, {
    usage: 'list',
    description: 'List all subscriptions, including expired and cancelled ones.',
    settings: ['state'],
    json: 'print [{subscription, email, state, created_at, expires_at, …, grants}]',
    examples: ['das subscription list'],
    run: ({ state }) => list(parts, state),
  })
  addPrinted(group, parts, {
    usage: 'show <subscription>',
    description:
      "Show a subscription: grants, this month's usage, orders, tokens, live connections.",
    settings: ['registry', 'state'],
    json: 'print {subscription, email, …, grants: [{dataset, plan, rows}], orders, tokens, …}',
    examples: ['das subscription show sub_0123456789abcdef'],
    run: (config, _flags, id: string) => show(parts, config, id),
  })
  addSubscriptionChanges(group, parts)
}

async function list(parts: CliParts, state: string): Promise<Result> {
  const subscriptions = (await readStore(parts, state, listSubscriptions)) ?? []
  const none =
    `There are no subscriptions in ${storeName(parts, state)} yet. Make one with: ` +
    'das subscription create --email buyer@example.org --plan DATASET:PLAN'
  return {
    json: subscriptions.map((each) => subscriptionJson(each, parts.clock.now())),
    lines: linesOrNone(parts.stdout, subscriptions, none, {
      SUBSCRIPTION: (each) => each.subscriptionId,
      'E-MAIL': (each) => each.email,
      STATE: (each) => subscriptionState(each, parts.clock.now()),
      MADE: (each) => day(each.createdAt),
      EXPIRES: (each) => day(each.expiresAt),
      GRANTS: (each) => grantsText(each.grants),
    }),
  }
}

async function show(
  parts: CliParts,
  config: Pick<Config, 'registry' | 'state'>,
  id: string,
): Promise<Result> {
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
  return {
    json: {
      ...subscriptionJson(subscription, now),
      period: usage.period,
      resets_at: isoTime(periodEnd(usage.period)),
      ...budgets,
      orders: orders.map(orderJson),
      tokens: tokensJson(parts, tokens, [subscription]),
      live_connections: live,
    },
    lines: [
      `Subscription ${subscription.subscriptionId} of ${subscription.email}`,
      `${subscriptionState(subscription, now)}; made ${day(subscription.createdAt)}, ` +
        `expires ${day(subscription.expiresAt)}`,
      '',
      ...budgetLines(parts, budgets),
      `Used in ${usage.period}; resets on ${day(periodEnd(usage.period))} (UTC).`,
      '',
      ...listLines(parts.stdout, orders, {
        ORDERED: (order) => day(order.orderedAt),
        WHAT: (order) => order.kind,
        STATE: orderState,
        MONTHS: (order) => order.months,
        RUB: (order) => order.amountRub,
        EXPIRES: ({ effect }) => effect && day(effect.expiresAt),
        GRANTS: ({ effect, items }) => grantsText(effect?.grants ?? items),
        'ROWS OVER ALL': ({ effect }) => effect && effect.globalRows,
      }),
      '',
      ...tokenTable(parts, tokens, [subscription]),
      '',
      `Live connections of agents: ${count(parts.stdout, live)}`,
    ],
  }
}

function budgetLines(
  { stdout }: CliParts,
  { grants, global }: ReturnType<typeof budgetsOf>,
): readonly string[] {
  const all = global === null ? [] : [{ dataset: 'all', plan: '', rows: global }]
  return listLines(stdout, [...grants, ...all], {
    DATASET: (each) => each.dataset,
    PLAN: (each) => each.plan,
    'ROWS A MONTH': (each) => each.rows.limit,
    USED: (each) => each.rows.used,
    LEFT: (each) => each.rows.remaining,
  })
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
