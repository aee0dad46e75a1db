import type { Command } from 'commander'
import { readRegistry } from '../catalog.js'
import type { Config } from '../config.js'
import { inOrder } from '../control/in-order.js'
import { keyOf } from '../control/keys.js'
import { listOrders, showOrder } from '../control/orders.js'
import type { Order, OrderState } from '../control/orders.js'
import { paymentsOf } from '../control/payments.js'
import type { Payment } from '../control/payments.js'
import type { ControlStore } from '../control/store/store.js'
import { confirmOrder } from '../sales/orders/confirm-order.js'
import { declineOrder } from '../sales/orders/decline-order.js'
import { isoTime, isoTimeOrNull } from '../text.js'
import { addGroup, addPrinted } from './command.js'
import type { Flags, Result } from './command.js'
import type { CliParts } from './parts.js'
import { count, day } from './print.js'
import { linesOrNone, reportCsv } from './table.js'
import { readFilledStore, readStore, withFilledStore } from './state.js'
import { grantsText, orderJson, orderState, receiptText } from './subscription/plan-options.js'

type ListFlags = Flags & { readonly all?: boolean }

/** `das order …`: what was ordered on the portal, and what the owner sold. */
export function addOrder(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'order',
    'List the orders, confirm and decline those of the portal.',
    'das order list',
  )
  addPrinted(group, parts, {
    usage: 'list',
    description:
      'List orders that wait for their payment, oldest first; with --all also confirmed, ' +
      "declined and expired ones, and the owner's.",
    options: (command) => command.option('--all', 'list every order').option('--csv', 'print CSV'),
    settings: ['state'],
    json: 'print [{order, kind, state, email, subscription, items, amount_rub, …, payments}]',
    examples: ['das order list', 'das order list --all', 'das order list --all --csv > orders.csv'],
    run: ({ state }, { all }: ListFlags) => list(parts, state, all === true),
  })
  addPrinted(group, parts, {
    usage: 'show <order>',
    description: 'Show an order and the payments that were reported for it.',
    settings: ['state'],
    json: 'print {order, kind, state, email, …, payments: [{payment, amount_rub, outcome, …}]}',
    examples: ['das order show ord_0123456789abcdef'],
    run: ({ state }, _flags, id: string) => show(parts, state, id),
  })
  addPrinted(group, parts, {
    usage: 'confirm <order>',
    description:
      'Confirm a paid order, also an expired one: its subscription starts, is extended or ' +
      'changed, and the server mails the buyer.',
    settings: ['registry', 'state'],
    json: 'print {order, …, subscription, expires_at}',
    examples: ['das order confirm ord_0123456789abcdef'],
    run: (config, _flags, id: string) => confirm(parts, config, id),
  })
  addPrinted(group, parts, {
    usage: 'decline <order>',
    description: 'Decline an order finally. The server mails the buyer.',
    settings: ['state'],
    json: 'print {order, kind, state, …}',
    examples: ['das order decline ord_0123456789abcdef'],
    run: ({ state }, _flags, id: string) => decline(parts, state, id),
  })
}

/** An order, and what was reported as paid for it. */
interface PaidOrder {
  readonly order: Order
  readonly payments: readonly Payment[]
}

async function list(parts: CliParts, state: string, isAll: boolean): Promise<Result> {
  const states: readonly OrderState[] = isAll
    ? ['waiting', 'confirmed', 'declined', 'expired']
    : ['waiting']
  const orders = await readStore(parts, state, async (store) =>
    inOrder(await listOrders(store, states), (order) => withPayments(store, order)),
  )
  const none = isAll ? 'There are no orders.' : 'No order waits.'
  return {
    json: (orders ?? []).map(paidJson),
    csv: csvLines(orders ?? []),
    lines: linesOrNone(parts.stdout, orders ?? [], none, {
      ORDER: ({ order }) => order.orderId,
      ORDERED: ({ order }) => day(order.orderedAt),
      STATE: ({ order }) => orderState(order),
      WHAT: ({ order }) => order.kind,
      'E-MAIL': ({ order }) => order.email,
      MONTHS: ({ order }) => order.months,
      RUB: ({ order }) => order.amountRub,
      PAID: ({ payments }) => payments.map(paidText).join(', ') || null,
      GRANTS: ({ order }) => grantsText(order.items),
    }),
  }
}

async function withPayments(store: ControlStore, order: Order): Promise<PaidOrder> {
  return { order, payments: await paymentsOf(store, order.orderId) }
}

/** A payment that confirmed nothing says why: the owner has to look at it. */
function paidText({ amountRub, outcome }: Payment): string {
  return outcome === 'confirmed' ? String(amountRub) : `${amountRub} (${outcome})`
}

async function show(parts: CliParts, state: string, id: string): Promise<Result> {
  const shown = await readFilledStore(parts, state, async (store) =>
    withPayments(store, await showOrder(store, id)),
  )
  const { order, payments } = shown
  const time = order.months === null ? '' : `, ${order.months} months`
  const of = order.subscriptionId === null ? '' : `, ${order.subscriptionId}`
  return {
    json: paidJson(shown),
    lines: [
      `Order ${order.orderId} of ${order.email}: ${order.kind}${of}, ${orderState(order)}`,
      `${count(parts.stdout, order.amountRub)} RUB${time}: ${grantsText(order.items)}`,
      ...buyerLines(order),
      order.byOwner
        ? `Entered by the owner on ${day(order.orderedAt)}`
        : `Ordered ${day(order.orderedAt)}, to be paid by ${day(order.payUntil)}`,
      '',
      ...linesOrNone(parts.stdout, payments, 'No payment was reported.', {
        PAYMENT: (each) => each.paymentId,
        PAID: (each) => day(each.paidAt),
        REPORTED: (each) => day(each.receivedAt),
        RUB: (each) => each.amountRub,
        OUTCOME: (each) => each.outcome,
      }),
    ],
  }
}

function buyerLines({ buyer, receipt }: Order): readonly string[] {
  const kpp = buyer?.kpp ? `, KPP ${buyer.kpp}` : ''
  const address = buyer?.address ? `, ${buyer.address}` : ''
  return [
    ...(buyer ? [`For ${buyer.name}, INN ${buyer.inn}${kpp}${address}`] : []),
    ...(receipt ? [`Receipt ${receiptText(receipt)}`] : []),
  ]
}

async function confirm(
  parts: CliParts,
  { registry: path, state }: Pick<Config, 'registry' | 'state'>,
  id: string,
): Promise<Result> {
  const registry = await readRegistry(path)
  const confirmed = await withFilledStore(parts, state, async (store) => {
    const mailKey = await keyOf(store, state, 'mail.key')
    const shop = { store, registry: () => registry, mailKey, now: parts.clock.now }
    return {
      ...(await confirmOrder(shop, id, { isLateAccepted: true })),
      payments: await paymentsOf(store, id),
    }
  })
  const { order, subscriptionId, expiresAt } = confirmed
  return {
    json: { ...paidJson(confirmed), expires_at: isoTime(expiresAt) },
    lines: [
      `Order ${id} of ${order.email} is confirmed: ${subscriptionId}, expires ${day(expiresAt)}.`,
      'The server mails the buyer.',
    ],
  }
}

async function decline(parts: CliParts, state: string, id: string): Promise<Result> {
  const declined = await withFilledStore(parts, state, async (store) =>
    withPayments(store, await declineOrder({ store, now: parts.clock.now }, id)),
  )
  const line = `Order ${id} of ${declined.order.email} is declined. The server mails the buyer.`
  return { json: paidJson(declined), lines: [line] }
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

function csvLines(orders: readonly PaidOrder[]): readonly string[] {
  return reportCsv(orders, {
    order: ({ order }) => order.orderId,
    ordered_at: ({ order }) => isoTime(order.orderedAt),
    done_at: ({ order }) => isoTimeOrNull(order.doneAt),
    state: ({ order }) => order.state,
    kind: ({ order }) => order.kind,
    by_owner: ({ order }) => String(order.byOwner),
    subscription: ({ order }) => order.subscriptionId,
    email: ({ order }) => order.email,
    months: ({ order }) => order.months,
    amount_rub: ({ order }) => order.amountRub,
    receipt: ({ order }) => order.receipt && receiptText(order.receipt),
    buyer_inn: ({ order }) => order.buyer && order.buyer.inn,
    items: ({ order }) => grantsText(order.items),
    expires_at: ({ order }) => order.effect && isoTime(order.effect.expiresAt),
    grants: ({ order }) => order.effect && grantsText(order.effect.grants),
    global_rows: ({ order }) => order.effect && order.effect.globalRows,
    takes_effect_at: ({ order }) => isoTimeOrNull(order.takesEffectAt),
  })
}
