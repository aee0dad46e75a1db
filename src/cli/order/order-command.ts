import type { Command } from 'commander'
import { readRegistry } from '../../catalog.js'
import { inOrder } from '../../control/in-order.js'
import { keyOf } from '../../control/keys.js'
import { listOrders, showOrder } from '../../control/orders.js'
import type { Order, OrderState } from '../../control/orders.js'
import { paymentsOf } from '../../control/payments.js'
import type { Payment } from '../../control/payments.js'
import { confirmOrder } from '../../shop/confirm-order.js'
import { declineOrder } from '../../shop/decline-order.js'
import { badRequest } from '../../errors.js'
import { isoTime } from '../../text.js'
import { addCommand, addGroup, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import { reportCsv } from '../csv.js'
import type { CliParts } from '../parts.js'
import { count, day, isoTimeOrNull, printJson, printLines } from '../print.js'
import { readFilledStore, readStore, withFilledStore } from '../state.js'
import { grantsText, orderJson } from '../subscription/subscription-json.js'
import { tableLines } from '../table.js'

type ListFlags = Flags & { readonly all?: boolean; readonly csv?: boolean }

/** `das order …`: what was ordered on the portal, and what the owner sold. */
export function addOrder(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'order',
    'List the orders, confirm and decline those of the portal.',
    'das order list',
  )
  addCommand(group, {
    usage: 'list',
    description:
      'List orders that wait for their payment, oldest first; with --all also confirmed, ' +
      "declined and expired ones, and the owner's.",
    options: (command) => command.option('--all', 'list every order').option('--csv', 'print CSV'),
    settings: ['state'],
    json: 'print [{order, kind, state, email, subscription, items, amount_rub, …, payments}]',
    examples: ['das order list', 'das order list --all', 'das order list --all --csv > orders.csv'],
  }).action((flags: ListFlags) => list(parts, flags))
  addCommand(group, {
    usage: 'show <order>',
    description: 'Show an order and the payments that were reported for it.',
    settings: ['state'],
    json: 'print {order, kind, state, email, …, payments: [{payment, amount_rub, outcome, …}]}',
    examples: ['das order show ord_0123456789abcdef'],
  }).action((id: string, flags: Flags) => show(parts, id, flags))
  addCommand(group, {
    usage: 'confirm <order>',
    description:
      'Confirm a paid order, also an expired one: its subscription starts, is extended or ' +
      'changed, and the server mails the buyer.',
    settings: ['registry', 'state'],
    json: 'print {order, …, subscription, expires_at}',
    examples: ['das order confirm ord_0123456789abcdef'],
  }).action((id: string, flags: Flags) => confirm(parts, id, flags))
  addCommand(group, {
    usage: 'decline <order>',
    description: 'Decline an order finally. The server mails the buyer.',
    settings: ['state'],
    json: 'print {order, kind, state, …}',
    examples: ['das order decline ord_0123456789abcdef'],
  }).action((id: string, flags: Flags) => decline(parts, id, flags))
}

/** An order, and what was reported as paid for it. */
interface PaidOrder {
  readonly order: Order
  readonly payments: readonly Payment[]
}

async function list(parts: CliParts, flags: ListFlags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  const states: readonly OrderState[] = flags.all
    ? ['waiting', 'confirmed', 'declined', 'expired']
    : ['waiting']
  const orders =
    (await readStore(
      parts,
      state,
      async (store) =>
        await inOrder(await listOrders(store, states), async (order) => ({
          order,
          payments: await paymentsOf(store, order.orderId),
        })),
    )) ?? []
  if (flags.csv && flags.json) throw badRequest('Use --csv or --json, not both.')
  if (flags.json) return printJson(parts, orders.map(paidJson))
  if (flags.csv) return printLines(parts, ...reportCsv(csvTitles, orders.map(csvRow)))
  if (orders.length === 0) {
    return printLines(parts, flags.all ? 'There are no orders.' : 'No order waits.')
  }
  const titles = ['ORDER', 'ORDERED', 'STATE', 'WHAT', 'E-MAIL', 'MONTHS', 'RUB', 'PAID', 'GRANTS']
  const rows = orders.map(({ order, payments }) => [
    order.orderId,
    day(order.orderedAt),
    order.state,
    order.kind,
    order.email,
    order.months,
    order.amountRub,
    payments.length === 0 ? null : payments.map(paidText).join(', '),
    grantsText(order.items),
  ])
  printLines(parts, ...tableLines(parts.stdout, titles, rows))
}

/** A payment that confirmed nothing says why: the owner has to look at it. */
function paidText({ amountRub, outcome }: Payment): string {
  return outcome === 'confirmed' ? String(amountRub) : `${amountRub} (${outcome})`
}

async function show(parts: CliParts, id: string, flags: Flags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  const shown = await readFilledStore(parts, state, async (store) => ({
    order: await showOrder(store, id),
    payments: await paymentsOf(store, id),
  }))
  if (flags.json) return printJson(parts, paidJson(shown))
  const { order, payments } = shown
  const time = order.months === null ? '' : `, ${order.months} months`
  const of = order.subscriptionId === null ? '' : `, ${order.subscriptionId}`
  printLines(
    parts,
    `Order ${order.orderId} of ${order.email}: ${order.kind}${of}, ${order.state}`,
    `${count(parts.stdout, order.amountRub)} RUB${time}: ${grantsText(order.items)}`,
    order.byOwner
      ? `Entered by the owner on ${day(order.orderedAt)}`
      : `Ordered ${day(order.orderedAt)}, to be paid by ${day(order.payUntil)}`,
    '',
    ...(payments.length === 0 ? ['No payment was reported.'] : paymentLines(parts, payments)),
  )
}

function paymentLines({ stdout }: CliParts, payments: readonly Payment[]): readonly string[] {
  return tableLines(
    stdout,
    ['PAYMENT', 'PAID', 'REPORTED', 'RUB', 'OUTCOME'],
    payments.map((each) => [
      each.paymentId,
      day(each.paidAt),
      day(each.receivedAt),
      each.amountRub,
      each.outcome,
    ]),
  )
}

async function confirm(parts: CliParts, id: string, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const registry = await readRegistry(config.registry)
  const confirmed = await withFilledStore(parts, config.state, async (store) => ({
    ...(await confirmOrder(
      {
        store,
        registry: () => registry,
        mailKey: await keyOf(store, config.state, 'mail.key'),
        now: parts.clock.now,
      },
      id,
      { isLateAccepted: true },
    )),
    payments: await paymentsOf(store, id),
  }))
  const { order, subscriptionId, expiresAt } = confirmed
  if (flags.json) {
    return printJson(parts, { ...paidJson(confirmed), expires_at: isoTime(expiresAt) })
  }
  printLines(
    parts,
    `Order ${id} of ${order.email} is confirmed: ${subscriptionId}, expires ${day(expiresAt)}.`,
    'The server mails the buyer.',
  )
}

async function decline(parts: CliParts, id: string, flags: Flags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  const declined = await withFilledStore(parts, state, async (store) => ({
    order: await declineOrder({ store, now: parts.clock.now }, id),
    payments: await paymentsOf(store, id),
  }))
  if (flags.json) return printJson(parts, paidJson(declined))
  printLines(
    parts,
    `Order ${id} of ${declined.order.email} is declined. The server mails the buyer.`,
  )
}

function paidJson({ order, payments }: PaidOrder) {
  return {
    ...orderJson(order),
    payments: payments.map((each) => ({
      payment: each.paymentId,
      amount_rub: each.amountRub,
      paid_at: isoTime(each.paidAt),
      received_at: isoTime(each.receivedAt),
      outcome: each.outcome,
    })),
  }
}

const csvTitles = [
  'order',
  'ordered_at',
  'done_at',
  'state',
  'kind',
  'by_owner',
  'subscription',
  'email',
  'months',
  'amount_rub',
  'items',
  'expires_at',
]

function csvRow({ order }: PaidOrder) {
  return [
    order.orderId,
    isoTime(order.orderedAt),
    isoTimeOrNull(order.doneAt),
    order.state,
    order.kind,
    String(order.byOwner),
    order.subscriptionId,
    order.email,
    order.months,
    order.amountRub,
    grantsText(order.items),
    order.effect && isoTime(order.effect.expiresAt),
  ]
}
