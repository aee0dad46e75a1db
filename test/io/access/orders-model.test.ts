import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { listActions } from '../../../src/control/audit.js'
import { ordersOfSubscription, showOrder } from '../../../src/control/orders.js'
import { listLetters } from '../../../src/control/letters.js'
import { sql } from '../../../src/control/store/sql.js'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { changeSubscription } from '../../../src/control/subscription-changes.js'
import { listSubscriptions, showSubscription } from '../../../src/control/subscriptions.js'
import { parseRegistry } from '../../../src/registry/registry.js'
import { confirmOrder } from '../../../src/sales/orders/confirm-order.js'
import { declineOrder } from '../../../src/sales/orders/decline-order.js'
import { placeOrder } from '../../../src/sales/orders/place-order.js'
import type { Placed } from '../../../src/sales/orders/place-order.js'
import { quoteNew } from '../../../src/sales/orders/new-order.js'
import { receivePayment } from '../../../src/sales/orders/receive-payment.js'
import type { Shop } from '../../../src/sales/orders/shop.js'
import { orderChange, orderRenewal } from '../../../src/sales/orders/subscription-orders.js'
import { tidyShop } from '../../../src/sales/orders/tidy-shop.js'
import { ServiceError } from '../../../src/errors.js'
import { priceRub } from '../../../src/registry/price.js'
import { dayOf, monthsLater } from '../../access/fixtures/calendar.js'
import { machine } from '../../support/machine.js'

// Guarantee: whatever is ordered, paid, declined and lost, in whatever order, an order takes effect
// at most once, for the price that a model in plain arithmetic says, to the rouble; subscription,
// entry, letter and audit trail hold it together or not at all.

const everydayRuns = 150
const everydaySeed = 20261123
const { DAS_MODEL_RUNS, DAS_MODEL_SEED } = process.env
const runs = Number(DAS_MODEL_RUNS ?? everydayRuns)
const seed = Number(DAS_MODEL_SEED ?? (DAS_MODEL_RUNS ? Date.now() % 2 ** 31 : everydaySeed))

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const orderLifeMs = 14 * dayMs

/** Roubles a month; the plan table of the specification, and a second dataset. */
const prices = {
  financials: { free: 0, start: 990, pro: 3900, business: 9900 },
  procurement: { free: 0, start: 690, pro: 2900 },
} as const
type Dataset = keyof typeof prices
const priceOf = (dataset: string, plan: string): number =>
  (prices as Readonly<Record<string, Readonly<Record<string, number>>>>)[dataset]?.[plan] ?? NaN

const plansText = (dataset: Dataset) =>
  Object.entries(prices[dataset])
    .map(([name, rub]) => `      ${name}: {rows_per_month: 10, history: all, price_rub: ${rub}}`)
    .join('\n')

const registry = parseRegistry(
  `shop: {free: true, paid: true, contact: o@example.org, payment: "{order} {amount}"}
datasets:
${(['financials', 'procurement'] as const)
  .map(
    (name) =>
      `  ${name}:\n    title: T\n    files: a\n    listed: true\n    plans:\n${plansText(name)}`,
  )
  .join('\n')}
`,
  'registry.yaml',
)

interface ModelOrder {
  readonly kind: 'new' | 'renew' | 'change'
  readonly amount: number
  /** Of a change 1 where the term moves. */
  readonly months: number | null
  readonly items: Map<string, string>
  readonly payUntil: number
  /** Null for a new subscription. */
  readonly sub: string | null
  /** Of a change: how often the subscription had changed. */
  basis: number
  /** Of cheaper plans, until they begin: the end of the term. */
  at: number | null
  state: 'waiting' | 'confirmed' | 'declined' | 'expired'
}

interface ModelSub {
  readonly grants: Map<string, string>
  expiresAt: number
  anchor: number
  changes: number
}

/** What a month of these plans costs. */
function monthly(grants: ReadonlyMap<string, string>): number {
  return [...grants].reduce((sum, [dataset, plan]) => sum + priceOf(dataset, plan), 0)
}

/** By the owner; an expired one without a price was scheduled, and a newer one replaced it. */
function mayBeDecided({ state, amount }: ModelOrder): boolean {
  return state === 'waiting' || (state === 'expired' && amount > 0)
}

/** What plans cost more a month than before, each dataset by itself. */
function raise(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  let sum = 0
  for (const [dataset, plan] of after) {
    const more = priceOf(dataset, plan) - priceNow(before, dataset)
    if (more > 0) sum += more
  }
  return sum
}

function priceNow(grants: ReadonlyMap<string, string>, dataset: string): number {
  const plan = grants.get(dataset)
  return plan === undefined ? 0 : priceOf(dataset, plan)
}

/** Begun months, of each twelve ten; of less than one, a month less what is left of the old one. */
function upgrade(
  more: number,
  old: number,
  now: number,
  end: number,
): { readonly amount: number; readonly months: 1 | null } {
  const day = dayOf(now)
  const monthEnd = monthsLater(now, 1, day)
  if (more === 0 || end >= monthEnd) {
    let paid = 0
    for (let month = 0; month === 0 || monthsLater(now, month, day) < end; month += 1) {
      if (month % 12 < 10) paid += 1
    }
    return { amount: more * paid, months: null }
  }
  const ofMonth = (monthEnd - now) / dayMs
  let used = ofMonth
  for (let from = now; from < end; from += dayMs) used -= 1
  const usedRub = BigInt(old) * BigInt(used)
  return { amount: more + Number(usedRub / BigInt(ofMonth)), months: 1 }
}

const items = fc
  .record({
    financials: fc.constantFrom('none', 'free', 'start', 'pro', 'business'),
    procurement: fc.constantFrom('none', 'free', 'start', 'pro'),
  })
  .map((chosen) => new Map(Object.entries(chosen).filter(([, plan]) => plan !== 'none')))
const months = fc.constantFrom(1, 1, 2, 6, 11, 12, 13, 24)
// Mostly the same subscription and the newest order, so that much happens to one.
const pick = fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, fc.nat(1000))
const order = fc.record({
  do: fc.constant('order' as const),
  email: fc.constantFrom('a@example.org', 'b@example.org', 'A@example.org'),
  items,
  months,
  isPaid: fc.boolean(),
})
const command = fc.oneof(
  fc.record({
    do: fc.constant('wait' as const),
    hours: fc.constantFrom(1, 30, 300, 300, 800, 4000),
  }),
  fc.record({
    do: fc.constant('term' as const),
    pick,
    hours: fc.constantFrom(-700, -300, -300, -20, 0, 1, 100),
  }),
  order,
  fc.record({ do: fc.constant('renew' as const), pick, months, isPaid: fc.boolean() }),
  ...[1, 2].map(() =>
    fc.record({ do: fc.constant('change' as const), pick, items, isPaid: fc.boolean() }),
  ),
  fc.record({ do: fc.constant('confirm' as const), pick, isLate: fc.boolean() }),
  fc.record({
    do: fc.constant('pay' as const),
    pick,
    off: fc.constantFrom(0, 0, 0, 0, 1, -1),
    times: fc.constantFrom(1, 1, 2),
  }),
  fc.record({ do: fc.constant('decline' as const), pick }),
  fc.record({ do: fc.constant('crash' as const), pick }),
  fc.record({ do: fc.constant('owner' as const), pick, items }),
)
const life = fc
  .tuple(order, fc.array(command, { minLength: 10, maxLength: 40, size: 'max' }))
  .map(([first, rest]) => [{ ...first, isPaid: true }, ...rest])
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

/** Cheaper plans that were replaced by other ones do not come back at once. */
const financials = (plan: keyof typeof prices.financials) =>
  new Map([['financials', plan]] as const)
const droppedLife: Command[] = [
  {
    do: 'order',
    email: 'a@example.org',
    items: financials('business'),
    months: 12,
    isPaid: true,
  },
  { do: 'change', pick: 0, items: financials('pro'), isPaid: false },
  { do: 'change', pick: 0, items: financials('start'), isPaid: false },
  { do: 'confirm', pick: 1, isLate: true },
]

class Shopping {
  readonly #store: ControlStore
  readonly #orders = new Map<string, ModelOrder>()
  readonly #subs = new Map<string, ModelSub>()
  readonly #note: (event: string) => void
  readonly #shop: Shop
  #now = Date.UTC(2026, 0, 31, 12)
  #payments = 0

  constructor(path: string, note: (event: string) => void) {
    this.#store = SqliteStore.open(path, { ...machine, syncs: 'later' })
    this.#note = note
    this.#shop = {
      store: this.#store,
      registry: () => registry,
      key: randomBytes(32),
      mailKey: randomBytes(32),
      now: () => this.#now,
      isMailOn: true,
      sendLetters: () => undefined,
    }
  }

  async end(): Promise<void> {
    await this.#store.close()
  }

  async live(given: Command): Promise<void> {
    switch (given.do) {
      case 'wait':
        await this.#wait(this.#now + given.hours * hourMs)
        break
      case 'term':
        await this.#waitForEnd(given)
        break
      case 'order':
        await this.#order(given)
        break
      case 'renew':
        await this.#renew(given)
        break
      case 'change':
        await this.#change(given)
        break
      case 'confirm':
        await this.#confirm(given)
        break
      case 'pay':
        await this.#pay(given)
        break
      case 'decline':
        await this.#decline(given)
        break
      case 'crash':
        await this.#crash(given)
        break
      case 'owner':
        await this.#changeByHand(given)
    }
    // Most orders are paid before anything else happens.
    if (
      'isPaid' in given &&
      given.isPaid &&
      [...this.#orders.values()].at(-1)?.state === 'waiting'
    ) {
      await this.#pay({ do: 'pay', pick: 0, off: 0, times: 1 })
    }
    await this.#compare()
  }

  async #wait(until: number): Promise<void> {
    this.#now = until
    await tidyShop(this.#shop)
    await this.#expire()
  }

  /** Until hours before or after cheaper plans begin, or else the end of the term. */
  async #waitForEnd({ pick: at, hours }: Command & { do: 'term' }): Promise<void> {
    const id = chosen([...this.#subs.keys()].reverse(), at)
    const sub = this.#subs.get(id ?? '')
    if (id === undefined || sub === undefined) return
    const end = (this.#scheduled(id)[0]?.[1].at ?? sub.expiresAt) + hours * hourMs
    if (end > this.#now) await this.#wait(end)
  }

  async #order({ email, items: wanted, months: count }: Command & { do: 'order' }): Promise<void> {
    if (wanted.size === 0) return
    const amount = monthly(wanted) * (count - 2 * Math.floor(count / 12))
    const isFree = monthly(wanted) === 0
    const quote = quoteNew(this.#shop, { items: grantsOf(wanted), months: count, buyer: null })
    same(quote.amountRub, amount, 'the price of an order')
    const facts = { kind: 'new', subscriptionId: null, basedOn: null, language: 'en' } as const
    const placed = await this.#attempt(() => placeOrder(this.#shop, { ...facts, ...quote, email }))
    if (placed === null) return
    const items = new Map(wanted)
    const model = { kind: 'new', amount, items, sub: null, basis: 0, at: null } as const
    this.#placed(placed, { ...model, months: isFree ? 12 : count })
  }

  async #renew({ pick: at, months: count }: Command & { do: 'renew' }): Promise<void> {
    const id = chosen([...this.#subs.keys()].reverse(), at)
    const sub = this.#subs.get(id ?? '')
    if (id === undefined || sub === undefined) return
    const atEnd = this.#atEnd(id)
    const bought = monthly(atEnd) === 0 ? 12 : count
    const amount = monthly(atEnd) * (bought - 2 * Math.floor(bought / 12))
    const placed = await this.#attempt(() => orderRenewal(this.#shop, id, count))
    if (placed === null) return
    const made =
      placed.kind === 'confirmed' ? this.#orders.get(placed.confirmed.order.orderId) : undefined
    if (made) {
      const isSame = made.kind === 'renew' && made.sub === id && made.amount === 0
      const isSoon = Math.abs(this.#now - (made.payUntil - orderLifeMs)) < 10 * 60_000
      same(isSame && isSoon, true, 'a free renewal pressed again')
      return this.#note('free renewal pressed again')
    }
    if (monthly(atEnd) === 0) {
      const latest = monthsLater(this.#now, 13, dayOf(this.#now))
      same(this.#renewed(sub, bought) <= latest, true, 'free plans are renewed in the last month')
    }
    if (monthly(atEnd) < monthly(sub.grants)) this.#note('renewal with cheaper plans')
    this.#replace(id)
    const facts = { kind: 'renew', amount, months: bought, sub: id, basis: 0, at: null } as const
    this.#placed(placed, { ...facts, items: atEnd })
  }

  async #change({ pick: at, items: wanted }: Command & { do: 'change' }): Promise<void> {
    const id = chosen([...this.#subs.keys()].reverse(), at)
    const sub = this.#subs.get(id ?? '')
    if (id === undefined || sub === undefined) return
    const atEnd = this.#atEnd(id)
    const items = [...wanted].filter(([dataset, plan]) => atEnd.get(dataset) !== plan)
    const isCheaper = ([dataset, plan]: readonly [string, string]) =>
      priceOf(dataset, plan) < priceNow(sub.grants, dataset)
    const later = new Map(items.filter(isCheaper))
    const atOnce = new Map(items.filter((item) => !isCheaper(item)))
    const more = raise(sub.grants, atOnce)
    const price = upgrade(more, monthly(sub.grants), this.#now, sub.expiresAt)
    const isPaid = this.#scheduled(id).some(
      ([, order]) =>
        order.at !== sub.expiresAt && items.some(([dataset]) => order.items.has(dataset)),
    )
    const placed = await this.#attempt(() => orderChange(this.#shop, id, grantsOf(wanted)))
    if (isPaid) this.#note('scheduled plans with paid months')
    if (placed === null) return
    same(isPaid, false, 'a change of scheduled plans with paid months')
    if (sub.expiresAt <= this.#now) throw new Error('plans of an ended subscription were changed')
    this.#replace(id)
    const facts = { kind: 'change', sub: id, basis: sub.changes, state: 'waiting' } as const
    if (later.size > 0) {
      const orders = await ordersOfSubscription(this.#store, id)
      const made = orders.filter(({ orderId, byOwner }) => !byOwner && !this.#orders.has(orderId))
      const scheduled = made.find(({ takesEffectAt }) => takesEffectAt !== null)
      same(made.length, atOnce.size > 0 ? 2 : 1, 'the number of orders of a change')
      if (scheduled === undefined) throw new Error('cheaper plans have no order of their own')
      this.#note(atOnce.size > 0 ? 'cheaper and dearer plans' : 'cheaper plans')
      this.#drop(id, later)
      const at = sub.expiresAt
      const free = { amount: 0, months: null, payUntil: this.#now + orderLifeMs } as const
      const model: ModelOrder = { ...facts, ...free, items: later, at, state: 'confirmed' }
      this.#orders.set(scheduled.orderId, model)
    }
    if (atOnce.size === 0) return
    this.#note(price.months ? 'upgrade that moves the term' : more ? 'upgrade' : 'free change')
    this.#placed(placed, { ...facts, ...price, items: atOnce, at: null })
  }

  /** The plans of a subscription after all that is scheduled. */
  #atEnd(id: string): Map<string, string> {
    const plans = new Map(this.#subs.get(id)?.grants)
    for (const [, { items }] of this.#scheduled(id)) {
      for (const [dataset, plan] of items) plans.set(dataset, plan)
    }
    return plans
  }

  #scheduled(id: string): (readonly [string, ModelOrder])[] {
    return [...this.#orders].filter(
      ([, { sub, state, at }]) => sub === id && state === 'confirmed' && at !== null,
    )
  }

  /** Scheduled plans of these datasets do not come. */
  #drop(id: string, changed: ReadonlyMap<string, string>): void {
    for (const [, order] of this.#scheduled(id)) {
      for (const dataset of changed.keys()) {
        if (order.items.size > 1) order.items.delete(dataset)
        else if (order.items.has(dataset)) {
          order.state = 'expired'
          order.at = null
        }
      }
      if (order.state === 'expired') this.#note('scheduled plans dropped')
    }
  }

  #placed(placed: Placed, order: Omit<ModelOrder, 'state' | 'payUntil'>): void {
    const { orderId } = placed.kind === 'waiting' ? placed.order : placed.confirmed.order
    same(
      placed.kind,
      order.amount === 0 ? 'confirmed' : 'waiting',
      'only free orders start at once',
    )
    const model: ModelOrder = { ...order, state: 'waiting', payUntil: this.#now + orderLifeMs }
    this.#orders.set(orderId, model)
    if (placed.kind === 'confirmed') this.#apply(orderId, placed.confirmed.subscriptionId)
  }

  async #confirm({ pick: at, isLate }: Command & { do: 'confirm' }): Promise<void> {
    const id = chosen([...this.#orders.keys()].reverse(), at)
    const order = this.#orders.get(id ?? '')
    if (id === undefined || order === undefined) return
    const isOpen = mayBeDecided(order) && (isLate || order.state === 'waiting')
    const done = await this.#attempt(() => confirmOrder(this.#shop, id, { isLateAccepted: isLate }))
    same(done !== null, isOpen && this.#isPossible(order), `a confirmation of one ${order.state}`)
    if (done === null) this.#note('confirmation refused')
    else this.#apply(id, done.subscriptionId)
  }

  async #pay({ pick: at, off, times }: Command & { do: 'pay' }): Promise<void> {
    const id = chosen([...this.#orders.keys()].reverse(), at)
    const order = this.#orders.get(id ?? '')
    if (id === undefined || order === undefined) return
    const payment = {
      paymentId: `msg_${(this.#payments += 1)}`,
      orderId: id,
      amountRub: Math.max(0, order.amount + off),
      paidAt: this.#now,
    }
    const expected =
      order.state !== 'waiting'
        ? 'not waiting'
        : payment.amountRub !== order.amount
          ? 'wrong amount'
          : this.#isPossible(order)
            ? 'confirmed'
            : 'not possible'
    for (let count = 0; count < times; count += 1) {
      same(await receivePayment(this.#shop, payment), expected, 'the outcome of a payment')
    }
    this.#note(`payment: ${expected}`)
    if (expected !== 'confirmed') return
    this.#apply(id, (await showOrder(this.#store, id)).subscriptionId ?? '')
  }

  async #decline({ pick: at }: Command & { do: 'decline' }): Promise<void> {
    const id = chosen([...this.#orders.keys()].reverse(), at)
    const order = this.#orders.get(id ?? '')
    if (id === undefined || order === undefined) return
    const done = await this.#attempt(() => declineOrder(this.#shop, id))
    same(done !== null, mayBeDecided(order), 'a decline')
    if (done !== null) order.state = 'declined'
  }

  /** The process dies after all writes of a confirmation, before they are durable. */
  async #crash({ pick: at }: Command & { do: 'crash' }): Promise<void> {
    const id = chosen([...this.#orders.keys()].reverse(), at)
    if (id === undefined) return
    const died = new Error('died')
    try {
      await this.#store.write(async (tx) => {
        await confirmOrder({ ...this.#shop, store: tx }, id, { isLateAccepted: true })
        throw died
      })
    } catch (cause) {
      if (cause === died) this.#note('crash in a confirmation')
      else if (!(cause instanceof ServiceError)) throw cause
    }
  }

  /** The owner changes plans by a command: what was priced before is out of date. */
  async #changeByHand({ pick: at, items: wanted }: Command & { do: 'owner' }): Promise<void> {
    const id = chosen([...this.#subs.keys()].reverse(), at)
    const sub = this.#subs.get(id ?? '')
    if (id === undefined || sub === undefined || wanted.size === 0) return
    const change = { grants: grantsOf(wanted), withdrawn: [], now: () => this.#now }
    await changeSubscription(this.#store, id, change)
    sub.changes += 1
    for (const [dataset, plan] of wanted) sub.grants.set(dataset, plan)
    this.#drop(id, wanted)
  }

  /** Null where the shop refuses. */
  async #attempt<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof ServiceError) || cause.code === 'internal_error') throw cause
      this.#note('refused')
      return null
    }
  }

  #isPossible({ kind, sub: id, items: wanted, basis, months: count }: ModelOrder): boolean {
    const sub = this.#subs.get(id ?? '')
    if (kind === 'new' || id === null || sub === undefined) return true
    if (kind === 'change') {
      return (count === 1 || sub.expiresAt > this.#now) && sub.changes === basis
    }
    const atEnd = [...this.#atEnd(id)].sort()
    const isSame = JSON.stringify([...wanted].sort()) === JSON.stringify(atEnd)
    return isSame && this.#renewed(sub, count ?? 0) <= monthsLater(this.#now, 120, dayOf(this.#now))
  }

  #renewed(sub: ModelSub, count: number): number {
    const isLive = sub.expiresAt > this.#now
    const start = isLive ? sub.expiresAt : this.#now
    return monthsLater(start, count, isLive ? sub.anchor : dayOf(this.#now))
  }

  #apply(orderId: string, subscriptionId: string): void {
    const order = this.#orders.get(orderId)
    if (order === undefined) throw new Error('an unknown order was confirmed')
    same(order.state === 'confirmed', false, 'an order is confirmed once')
    order.state = 'confirmed'
    this.#note(`confirmed: ${order.kind}`)
    const count = order.months ?? 0
    const sub = this.#subs.get(subscriptionId)
    if (order.kind === 'new') {
      const anchor = dayOf(this.#now)
      const expiresAt = monthsLater(this.#now, count, anchor)
      this.#subs.set(subscriptionId, {
        grants: new Map(order.items),
        expiresAt,
        anchor,
        changes: 1,
      })
      return
    }
    if (sub === undefined) throw new Error('the order of an unknown subscription')
    sub.changes += 1
    if (order.kind === 'change') {
      for (const [dataset, plan] of order.items) sub.grants.set(dataset, plan)
      this.#drop(subscriptionId, order.items)
      if (order.months === 1) this.#moveTerm(subscriptionId, sub)
      return
    }
    const isLive = sub.expiresAt > this.#now
    const expiresAt = this.#renewed(sub, count)
    if (!isLive) sub.anchor = dayOf(this.#now)
    sub.expiresAt = expiresAt
  }

  #moveTerm(id: string, sub: ModelSub): void {
    if (sub.expiresAt <= this.#now) this.#note('term moved after its end')
    const anchor = dayOf(this.#now)
    const end = monthsLater(this.#now, 1, anchor)
    for (const [, order] of this.#scheduled(id)) {
      if (order.at !== sub.expiresAt) continue
      order.at = end
      this.#note('scheduled plans moved')
    }
    sub.anchor = anchor
    sub.expiresAt = end
  }

  /** Cheaper plans begin, but wait with an order that may still move the term. */
  #begin(): void {
    for (const [id, sub] of this.#subs) {
      const waiting = [...this.#orders.values()].filter(
        (order) => order.sub === id && order.state === 'waiting' && order.kind === 'change',
      )
      if (waiting.length > 0 && sub.expiresAt <= this.#now) continue
      for (const [, order] of this.#scheduled(id)) {
        if (order.at === null || order.at > this.#now) continue
        this.#note(sub.expiresAt > this.#now ? 'cheaper plans began' : 'cheaper plans at the end')
        order.at = null
        for (const [dataset, plan] of order.items) sub.grants.set(dataset, plan)
        sub.changes += 1
        for (const each of waiting) if (each.basis === sub.changes - 1) each.basis += 1
      }
    }
  }

  #replace(subscriptionId: string): void {
    for (const order of this.#orders.values()) {
      if (order.sub === subscriptionId && order.state === 'waiting') order.state = 'expired'
    }
  }

  async #expire(): Promise<void> {
    for (const order of this.#orders.values()) {
      if (order.state === 'waiting' && order.payUntil <= this.#now) order.state = 'expired'
    }
    this.#begin()
    const keptFrom = this.#now - 90 * dayMs
    // Orders that ended long ago without a payment are removed; the model forgets them too.
    for (const [id, order] of this.#orders) {
      if (order.state === 'waiting' || order.state === 'confirmed') continue
      const [left] = await this.#store.all(sql`SELECT 1 FROM orders WHERE id = ${id}`)
      if (left !== undefined) continue
      if (order.payUntil - orderLifeMs > keptFrom) throw new Error('an order was removed too soon')
      this.#orders.delete(id)
    }
  }

  async #compare(): Promise<void> {
    same(
      (await listSubscriptions(this.#store)).length,
      this.#subs.size,
      'the number of subscriptions',
    )
    for (const [id, sub] of this.#subs) {
      const { grants, expiresAt } = await showSubscription(this.#store, id)
      same(expiresAt, sub.expiresAt, 'the end of a subscription')
      same(
        JSON.stringify(grants),
        JSON.stringify(grantsOf(new Map([...sub.grants].sort()))),
        'plans',
      )
      const orders = await ordersOfSubscription(this.#store, id)
      same(orders.filter(({ effect }) => effect).length, sub.changes, 'the number of entries')
    }
    for (const [id, order] of this.#orders) {
      const stored = await showOrder(this.#store, id)
      same(stored.state, order.state, 'the state of an order')
      same(stored.amountRub, order.amount, 'the amount of an order, to the rouble')
      same(stored.takesEffectAt, order.at, 'when an order takes effect')
      if (order.at === null) continue
      const wanted = JSON.stringify([...grantsOf(order.items)].sort(byDataset))
      same(JSON.stringify([...stored.items].sort(byDataset)), wanted, 'scheduled plans')
    }
  }

  /** Every order that took effect has one entry, one letter and one entry in the trail. */
  async settle(): Promise<void> {
    const letters = await listLetters(this.#store, ['waiting'])
    const confirmed = [...this.#orders].filter(([, { state }]) => state === 'confirmed')
    const agreed = (
      await Promise.all([...this.#subs.keys()].map((id) => ordersOfSubscription(this.#store, id)))
    ).flat()
    same(
      agreed.reduce((sum, { amountRub, effect }) => sum + (effect ? amountRub : 0), 0),
      confirmed.reduce((sum, [, { amount }]) => sum + amount, 0),
      'the money of all entries',
    )
    for (const [id, { kind }] of confirmed) {
      const wanted = kind === 'new' ? 'new-token' : 'order-confirmed'
      const own = letters.filter((letter) => letter.orderId === id && letter.kind === wanted)
      same(own.length, 1, 'letters of a confirmed order')
      const entries = await listActions(this.#store, { subject: id })
      const done = entries.filter(({ action }) => action === 'order.confirmed')
      same(done.length, 1, 'audit entries of a confirmed order')
    }
  }
}

function grantsOf(wanted: ReadonlyMap<string, string>) {
  return [...wanted].map(([dataset, plan]) => ({ dataset, plan }))
}

function byDataset(one: { readonly dataset: string }, other: { readonly dataset: string }): number {
  return one.dataset < other.dataset ? -1 : 1
}

function chosen<T>(list: readonly T[], at: number): T | undefined {
  return list[at % Math.max(1, list.length)]
}

function same(found: unknown, wanted: unknown, what: string): void {
  if (found !== wanted) throw new Error(`${what}: ${String(found)}, the model: ${String(wanted)}`)
}

/** What must really have happened, or the runs have proved nothing of it. */
const events = [
  'confirmed: new',
  'confirmed: renew',
  'confirmed: change',
  'upgrade',
  'upgrade that moves the term',
  'term moved after its end',
  'free change',
  'cheaper plans',
  'cheaper and dearer plans',
  'cheaper plans began',
  'cheaper plans at the end',
  'renewal with cheaper plans',
  'scheduled plans with paid months',
  'scheduled plans moved',
  'scheduled plans dropped',
  'refused',
  'confirmation refused',
  'crash in a confirmation',
  'payment: confirmed',
  'payment: wrong amount',
  'payment: not waiting',
  'payment: not possible',
]

await t.test('orders, payments and crashes: every rouble is where the model says', async (t) => {
  const seen = new Map<string, number>()
  const note = (event: string) => seen.set(event, (seen.get(event) ?? 0) + 1)
  const folder = t.testdir({})
  let run = 0
  const result = await fc.check(
    fc.asyncProperty(life, async (commands) => {
      const shopping = new Shopping(join(folder, String(run++), 'control.db'), note)
      try {
        for (const each of commands) await shopping.live(each)
        await shopping.settle()
      } finally {
        await shopping.end()
      }
    }),
    { numRuns: runs, seed, examples: [[droppedLife]] },
  )
  if (result.failed) {
    const report = fc.defaultReportMessage(result)
    t.fail('a life was other than the model says', { report: report?.split('\n') })
    throw result.errorInstance
  }
  t.comment(`${runs} runs, seed ${seed}`, Object.fromEntries([...seen].sort()))
  t.same(
    events.filter((event) => runs >= everydayRuns && !seen.has(event)),
    [],
    'each of these happened',
  )
  t.end()
})

await t.test('the plan table costs what the specification says', (t) => {
  for (const [plan, rub] of Object.entries(prices.financials)) {
    t.equal(priceRub([{ priceRub: rub }], 12), rub * 10, plan)
  }
  t.end()
})
