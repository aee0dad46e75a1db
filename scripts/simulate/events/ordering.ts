import { createHmac } from 'node:crypto'
import { dayOf, monthsLater } from '../../../test/access/fixtures/calendar.js'
import { paymentSecret } from '../house.js'
import { BrokenPromise, tokenIn } from '../world.js'
import type { World } from '../world.js'
import { plans } from '../world-files.js'
import { address, choosePlans } from './selling.js'

const companyFields = [
  ['buyer-name', 'Company'],
  ['buyer-inn', '7707083893'],
  ['buyer-address', 'Street 2'],
] as const

const dayMs = 86_400_000
/** More than can be paid ahead. */
const monthsAheadMax = 130

/** Orders on the portal with a code by mail, as a visitor does. */
export async function order(world: World): Promise<string> {
  const [email, chosen, months] = [
    address(world),
    choosePlans(world),
    world.random.oneOf([1, 3, 12]),
  ]
  const company = world.random.oneOf([[], companyFields])
  const fields = [
    ...chosen.map((plan) => ['plan', plan] as const),
    ['email', email] as const,
    ...company,
  ]
  const asked = await world.postForm('/order', [...fields, ['months', String(months)]])
  const words = `${email} ${chosen.join(' ')} ${months} months`
  if (asked.status !== 200) return `${words} → ${asked.status}`
  const typed = await mailedCode(world, asked.text, email)
  const done = await world.postForm('/order/code', typed)
  if (done.status !== 200) return `${words} → code ${done.status}`
  const secret = tokenIn(done.text)
  if (secret !== null) {
    const id = world.adopt(secret)
    return `${words} → ${world.nameOf(id)}`
  }
  const [id = ''] = /ord_[0-9A-Za-z]{16}/.exec(done.text) ?? []
  world.prices.set(id, priceOf(chosen, months))
  const isFor = company.every(([, text]) => done.text.includes(text))
  world.require(isFor && done.text.includes(`Invoice ${id}`), `${id}: no invoice for its buyer`)
  return `${words} → waits as ${world.nameOf(id)}`
}

/** A subscriber orders more time, or other plans. */
export async function orderOnAccount(world: World): Promise<string> {
  const token = world.oneOf(world.tokens)
  if (!token) return 'nobody has a token'
  const months = world.random.oneOf([1, 12])
  const [plan = ''] = choosePlans(world)
  const wanted = world.random.oneOf([['months', String(months)] as const, ['plan', plan] as const])
  const send = (...fields: readonly (readonly [string, string])[]) =>
    world.postForm('/account', [['token', token.secret], wanted, ...fields])
  const quote = await send(['act', 'quote'])
  const words = `${world.nameOf(token.subscription)} ${wanted.join(' ')}`
  if (quote.status !== 200) return `${words} → quote ${quote.status}`
  const amount = Number(/name="amount" value="(\d+)"/.exec(quote.text)?.[1])
  if (wanted[0] === 'months') requireRenewalPrice(world, token.subscription, months, amount)
  else requireChangePrice(world, token.subscription, plan, amount)
  const before = new Set(world.books().orders.keys())
  const placed = await send(['act', 'order'], ['amount', String(amount)])
  if (placed.status !== 200) return `${words} → ${placed.status}`
  const orders = [...world.books().orders.values()].filter(({ id }) => !before.has(id))
  for (const { id, amountRub } of orders) world.prices.set(id, amountRub)
  world.require(
    orders.some(({ amountRub }) => amountRub === amount),
    'an order at another price',
  )
  const states = orders.map(({ id, state }) => `${world.nameOf(id)} ${state}`)
  return `${words} → ${states.join(', ')}, ${amount} RUB`
}

/** The payment system reports a payment, often the right one, sometimes twice. */
export async function pay(world: World): Promise<string> {
  const orders = [...world.books().orders.values()]
  const waiting = orders.filter(({ state }) => state === 'waiting')
  const order = world.oneOf(world.random.whole(0, 4) > 0 ? waiting : orders)
  if (!order) return 'no order waits'
  const off = world.random.oneOf([0, 0, 0, 0, 0, -1, 1000])
  const id = `msg_${world.random.whole(0, 10 ** 9)}`
  const times = world.random.oneOf([1, 1, 2])
  let words = `${world.nameOf(order.id)} ${order.state}, ${order.amountRub + off} of ${order.amountRub}`
  for (let time = 0; time < times; time++) {
    const before = world.books().orders.get(order.id)
    const { status } = await reportPayment(world, id, order.id, order.amountRub + off)
    const after = world.books().orders.get(order.id)
    if (status === 204 && off !== 0 && before?.state === 'waiting') {
      world.require(after?.state !== 'confirmed', 'a wrong amount confirmed an order')
    }
    if (time > 0 && status === 204) {
      world.require(after?.state === before?.state, 'a repeated payment changed its order')
    }
    words += ` → ${status} ${after?.state ?? ''}`
  }
  return words
}

function reportPayment(world: World, id: string, orderId: string, amountRub: number) {
  const body = JSON.stringify({
    order: orderId,
    amount_rub: Math.max(0, amountRub),
    paid_at: new Date(world.now).toISOString(),
  })
  const timestamp = String(Math.floor(world.now / 1000))
  const key = Buffer.from(paymentSecret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  return world.get('/hooks/payment', undefined, { method: 'POST', headers, body })
}

/** What a month of these plans costs, times the months; of a year, ten are paid. */
function priceOf(chosen: readonly string[], months: number): number {
  const rub = chosen.reduce((sum, text) => {
    const [dataset = '', plan = ''] = text.split(':')
    return sum + rubOf(dataset, plan)
  }, 0)
  return rub * (months - 2 * Math.floor(months / 12))
}

/** Of each twelve months of a change, ten at most cost something. */
function priced(months: number): number {
  return 10 * Math.floor(months / 12) + Math.min(10, months % 12)
}

function rubOf(dataset: string, plan: string): number {
  const all: Readonly<Record<string, Readonly<Record<string, { readonly rub: number }>>>> = plans
  return all[dataset]?.[plan]?.rub ?? NaN
}

function requireRenewalPrice(world: World, id: string, months: number, amount: number): void {
  const { subscriptions, scheduled } = world.books()
  const grants = new Map(subscriptions.get(id)?.grants)
  for (const { subscription, items } of scheduled.values()) {
    if (subscription !== id) continue
    const changed = JSON.parse(items) as { readonly dataset: string; readonly plan: string }[]
    for (const { dataset, plan } of changed) grants.set(dataset, plan)
  }
  const chosen = [...grants]
    .filter(([, plan]) => plan !== '')
    .map(([dataset, plan]) => `${dataset}:${plan}`)
  world.require(priceOf(chosen, months) === amount, `the price of a renewal of ${chosen.join(' ')}`)
}

/** What a dearer plan costs for the months that are left, by the calendar; a cheaper one nothing. */
function requireChangePrice(world: World, id: string, chosen: string, amount: number): void {
  const subscription = world.books().subscriptions.get(id)
  if (!subscription) throw new BrokenPromise(`${world.nameOf(id)} has a quote, and is not known`)
  const { grants, expiresAt, anchorDay } = subscription
  const { now } = world
  const [dataset = '', plan = ''] = chosen.split(':')
  const before = [...grants].map((grant) => rubOf(...grant))
  const more =
    rubOf(dataset, plan) - (grants.has(dataset) ? rubOf(dataset, grants.get(dataset) ?? '') : 0)
  const monthEnd = monthsLater(now, 1, dayOf(now))
  const isMoved = more > 0 && expiresAt < monthEnd
  const steps = Array.from({ length: monthsAheadMax }, (_, at) => at + 1)
  const months = steps.find(
    (each) =>
      monthsLater(now, each, dayOf(now)) >= expiresAt ||
      monthsLater(expiresAt, -each, anchorDay) <= now,
  )
  const kept = Math.max(0, more) * priced(months ?? NaN)
  const daysLeft = Math.ceil((expiresAt - now) / dayMs)
  const days = (monthEnd - now) / dayMs
  const old = before.reduce((sum, rub) => sum + rub, 0)
  const moved = more + old - Math.ceil((old * daysLeft) / days)
  const wanted = isMoved ? moved : kept
  world.require(wanted === amount, `${world.nameOf(id)}: ${chosen} for ${amount}, not ${wanted}`)
}

/** Waits for the letter with a code, which may take a round; the fields of the page's form. */
export async function mailedCode(world: World, page: string, email: string) {
  await world.machine.pass(6000)
  const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? 'no id'
  return [['id', id] as const, ['code', world.post.codeFor(email)] as const] as const
}
