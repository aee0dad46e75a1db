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
const orderLifeMs = 14 * 24 * hourMs

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
  readonly months: number | null
  readonly items: ReadonlyMap<string, string>
  readonly payUntil: number
  /** Null for a new subscription. */
  readonly sub: string | null
  /** Of a change: how often the subscription had changed. */
  readonly basis: number
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

/** What plans cost more a month than before, each dataset by itself. */
function raise(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  let sum = 0
  for (const [dataset, plan] of after) {
    const old = before.get(dataset)
    const more = priceOf(dataset, plan) - (old === undefined ? 0 : priceOf(dataset, old))
    if (more > 0) sum += more
  }
  return sum
}

/** Month by month, one at least: ten of each twelve are paid, a part of one by its share. */
function upgrade(more: number, now: number, end: number): number {
  if (more === 0) return 0
  const day = dayOf(now)
  let paid = 0n
  let [partMs, monthMs] = [0n, 1n]
  for (let month = 0; ; month += 1) {
    const [from, to] = [monthsLater(now, month, day), monthsLater(now, month + 1, day)]
    const isPaid = month % 12 < 10
    if (to <= end) {
      if (isPaid) paid += 1n
      continue
    }
    if (isPaid && end > from) [partMs, monthMs] = [BigInt(end - from), BigInt(to - from)]
    break
  }
  return Math.max(more, Number((BigInt(more) * (paid * monthMs + partMs)) / monthMs))
}

const items = fc
  .record({
    financials: fc.constantFrom('none', 'free', 'start', 'pro', 'business'),
    procurement: fc.constantFrom('none', 'free', 'start', 'pro'),
  })
  .map((chosen) => new Map(Object.entries(chosen).filter(([, plan]) => plan !== 'none')))
const months = fc.constantFrom(1, 2, 6, 11, 12, 13, 24)
const pick = fc.nat(1000)
const command = fc.oneof(
  fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 30, 300, 800, 4000) }),
  fc.record({
    do: fc.constant('order' as const),
    email: fc.constantFrom('a@example.org', 'b@example.org', 'A@example.org'),
    items,
    months,
  }),
  fc.record({ do: fc.constant('renew' as const), pick, months }),
  fc.record({ do: fc.constant('change' as const), pick, items }),
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
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

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
        this.#now += given.hours * hourMs
        await tidyShop(this.#shop)
        await this.#expire()
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
    await this.#compare()
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
    const model = { kind: 'new', amount, items: wanted, sub: null, basis: 0 } as const
    this.#placed(placed, { ...model, months: isFree ? 12 : count })
  }

  async #renew({ pick: at, months: count }: Command & { do: 'renew' }): Promise<void> {
    const id = chosen([...this.#subs.keys()], at)
    const sub = this.#subs.get(id ?? '')
    if (id === undefined || sub === undefined) return
    const isFree = monthly(sub.grants) === 0
    const bought = isFree ? 12 : count
    const amount = monthly(sub.grants) * (bought - 2 * Math.floor(bought / 12))
    const placed = await this.#attempt(() => orderRenewal(this.#shop, id, count))
    if (placed === null) return
    this.#replace(id)
    const facts = { kind: 'renew', amount, months: bought, sub: id, basis: 0 } as const
    this.#placed(placed, { ...facts, items: new Map(sub.grants) })
  }

  async #change({ pick: at, items: wanted }: Command & { do: 'change' }): Promise<void> {
    const id = chosen([...this.#subs.keys()], at)
    const sub = this.#subs.get(id ?? '')
    if (id === undefined || sub === undefined) return
    const after = new Map([...sub.grants, ...wanted])
    const amount = upgrade(raise(sub.grants, after), this.#now, sub.expiresAt)
    const placed = await this.#attempt(() => orderChange(this.#shop, id, grantsOf(wanted)))
    if (placed === null) return
    if (sub.expiresAt <= this.#now) throw new Error('plans of an ended subscription were changed')
    this.#note(amount === 0 ? 'change for nothing' : 'upgrade')
    this.#replace(id)
    const items = new Map([...wanted].filter(([dataset, plan]) => sub.grants.get(dataset) !== plan))
    const facts = { kind: 'change', amount, months: null, sub: id, basis: sub.changes } as const
    this.#placed(placed, { ...facts, items })
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
    const id = chosen([...this.#orders.keys()], at)
    const order = this.#orders.get(id ?? '')
    if (id === undefined || order === undefined) return
    const isOpen = order.state === 'waiting' || (order.state === 'expired' && isLate)
    const done = await this.#attempt(() => confirmOrder(this.#shop, id, { isLateAccepted: isLate }))
    same(done !== null, isOpen && this.#isPossible(order), `a confirmation of one ${order.state}`)
    if (done === null) this.#note('confirmation refused')
    else this.#apply(id, done.subscriptionId)
  }

  async #pay({ pick: at, off, times }: Command & { do: 'pay' }): Promise<void> {
    const id = chosen([...this.#orders.keys()], at)
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
    const id = chosen([...this.#orders.keys()], at)
    const order = this.#orders.get(id ?? '')
    if (id === undefined || order === undefined) return
    const done = await this.#attempt(() => declineOrder(this.#shop, id))
    same(done !== null, order.state === 'waiting' || order.state === 'expired', 'a decline')
    if (done !== null) order.state = 'declined'
  }

  /** The process dies after all writes of a confirmation, before they are durable. */
  async #crash({ pick: at }: Command & { do: 'crash' }): Promise<void> {
    const id = chosen([...this.#orders.keys()], at)
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
    const id = chosen([...this.#subs.keys()], at)
    const sub = this.#subs.get(id ?? '')
    if (id === undefined || sub === undefined || wanted.size === 0) return
    const change = { grants: grantsOf(wanted), withdrawn: [], now: () => this.#now }
    await changeSubscription(this.#store, id, change)
    sub.changes += 1
    for (const [dataset, plan] of wanted) sub.grants.set(dataset, plan)
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
    if (kind === 'new' || sub === undefined) return true
    if (kind === 'change') return sub.expiresAt > this.#now && sub.changes === basis
    const isSame = JSON.stringify([...wanted].sort()) === JSON.stringify([...sub.grants].sort())
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
      return
    }
    const isLive = sub.expiresAt > this.#now
    const expiresAt = this.#renewed(sub, count)
    if (!isLive) sub.anchor = dayOf(this.#now)
    sub.expiresAt = expiresAt
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
    const keptFrom = this.#now - 90 * 24 * hourMs
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
  'change for nothing',
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
    fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 60 }), async (commands) => {
      const shopping = new Shopping(join(folder, String(run++), 'control.db'), note)
      try {
        for (const each of commands) await shopping.live(each)
        await shopping.settle()
      } finally {
        await shopping.end()
      }
    }),
    { numRuns: runs, seed },
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
