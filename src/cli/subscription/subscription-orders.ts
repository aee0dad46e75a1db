import type { Command } from 'commander'
import { listAgreements } from '../../control/agreements.js'
import type { Agreement } from '../../control/agreements.js'
import { inOrder } from '../../control/in-order.js'
import { listSubscriptions, showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { badRequest } from '../../errors.js'
import { isoTime } from '../../text.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import { reportCsv } from '../csv.js'
import type { CliParts } from '../parts.js'
import { day, printJson, printLines } from '../print.js'
import { readFilledStore } from '../state.js'
import { tableLines } from '../table.js'
import { grantsText, orderJson } from './subscription-json.js'

type OrdersFlags = Flags & { readonly csv?: boolean }

interface SoldOrder {
  readonly subscription: Subscription
  readonly order: Agreement
}

/** `das subscription orders`: sales and changes, with the price that was agreed. */
export function addSubscriptionOrders(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'orders [subscription]',
    description: 'List every order with the agreed price, oldest first.',
    options: (command) => command.option('--csv', 'print CSV'),
    settings: ['state'],
    json: 'print [{subscription, email, ordered_at, kind, months, price_rub, …, grants}]',
    examples: ['das subscription orders', 'das subscription orders --csv > orders.csv'],
  }).action((id: string | undefined, flags: OrdersFlags) => list(parts, id, flags))
}

async function list(parts: CliParts, id: string | undefined, flags: OrdersFlags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  if (flags.csv && flags.json) throw badRequest('Use --csv or --json, not both.')
  const found = await readFilledStore(parts, state, async (store) => {
    const subscriptions =
      id === undefined ? await listSubscriptions(store) : [await showSubscription(store, id)]
    return (
      await inOrder(subscriptions, async (subscription) =>
        (await listAgreements(store, subscription.subscriptionId)).map((order) => ({
          subscription,
          order,
        })),
      )
    ).flat()
  })
  const orders = found.sort((left, right) => left.order.orderedAt - right.order.orderedAt)
  if (flags.json) printJson(parts, orders.map(soldJson))
  else if (flags.csv) printLines(parts, ...reportCsv(csvTitles, orders.map(csvRow)))
  else printLines(parts, ...orderTable(parts, orders))
}

function soldJson({ subscription: { subscriptionId, email }, order }: SoldOrder) {
  return { subscription: subscriptionId, email, ...orderJson(order) }
}

const csvTitles = [
  'ordered_at',
  'subscription',
  'email',
  'kind',
  'months',
  'price_rub',
  'expires_at',
  'grants',
  'global_rows',
]

function csvRow({ subscription: { subscriptionId, email }, order }: SoldOrder) {
  return [
    isoTime(order.orderedAt),
    subscriptionId,
    email,
    order.kind,
    order.months,
    order.priceRub,
    isoTime(order.expiresAt),
    grantsText(order.grants),
    order.globalRows,
  ]
}

function orderTable({ stdout }: CliParts, orders: readonly SoldOrder[]): readonly string[] {
  const titles = ['ORDERED', 'SUBSCRIPTION', 'E-MAIL', 'WHAT', 'MONTHS', 'RUB', 'EXPIRES', 'GRANTS']
  const rows = orders.map(({ subscription: { subscriptionId, email }, order }) => [
    day(order.orderedAt),
    subscriptionId,
    email,
    order.kind,
    order.months,
    order.priceRub,
    day(order.expiresAt),
    grantsText(order.grants),
  ])
  return tableLines(stdout, titles, rows)
}
