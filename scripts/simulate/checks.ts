import { hashToken } from '../../src/control/tokens/token-format.js'
import type { Paper } from '../../src/sales/orders/papers/paper.js'
import type { Books, OrderRow } from './books.js'
import type { Token, World } from './world.js'
import { plans } from './world-files.js'

const changesOfState: Readonly<Record<OrderRow['state'], readonly OrderRow['state'][]>> = {
  waiting: ['waiting', 'confirmed', 'declined', 'expired'],
  expired: ['expired', 'confirmed', 'declined'],
  confirmed: ['confirmed'],
  declined: ['declined'],
}

const tokensAskedMax = 3

/** Checks what changed in the books with an event. @throws BrokenPromise */
export function checkBooks(world: World, before: Books, after: Books): void {
  checkUsage(world, before, after)
  checkOrders(world, before, after)
  checkPapers(world, before, after)
  checkScheduled(world, before, after)
  checkSubscriptions(world, before, after)
  checkLetters(world, before, after)
}

/** delivered ≤ charged ≤ quota; what was charged and not delivered was at risk. */
function checkUsage(world: World, before: Books, after: Books): void {
  const of = world.ledger.close()
  const charged = new Map<string, number>()
  for (const [key, rows] of after.usage) {
    const more = rows - (before.usage.get(key) ?? 0)
    const [subscription = '', dataset = '', month = ''] = key.split(' ')
    const pair = `${subscription} ${dataset}`
    world.require(more >= 0, `${pair}: rows of ${month} were uncounted`)
    charged.set(pair, (charged.get(pair) ?? 0) + more)
    if (more === 0) continue
    const quotas = [before, after].map((books) => quotaOf(books, subscription, dataset))
    const quota = Math.max(...quotas)
    world.require(rows <= quota, `${world.nameOf(subscription)}: ${rows} rows of ${quota}`)
  }
  for (const [pair, rows] of charged) {
    const { delivered, atRisk } = of(pair)
    const name = pair.replace(/sub_\w+/, (id) => world.nameOf(id))
    world.require(delivered <= rows, `${name}: ${delivered} rows delivered, ${rows} charged`)
    world.require(rows <= delivered + atRisk, `${name}: ${rows} charged, ${delivered} delivered`)
    world.ledger.rowsLost += rows - delivered
  }
  for (const id of after.subscriptions.keys()) {
    for (const dataset of Object.keys(plans)) {
      const pair = `${id} ${dataset}`
      const isPaid = of(pair).delivered === 0 || charged.has(pair)
      world.require(isPaid, `${world.nameOf(id)}: rows delivered without a charge`)
    }
  }
}

function quotaOf(books: Books, subscription: string, dataset: string): number {
  const plan = books.subscriptions.get(subscription)?.grants.get(dataset) ?? ''
  const all: Readonly<Record<string, Readonly<Record<string, { readonly rows: number }>>>> = plans
  return all[dataset]?.[plan]?.rows ?? 0
}

/** Each order is in one state, paid at most once, for its price, and takes effect with its papers. */
function checkOrders(world: World, before: Books, after: Books): void {
  for (const [id, order] of after.orders) {
    const name = world.nameOf(id)
    const known = before.orders.get(id)
    const { state, amountRub, paid } = order
    if (known) {
      const isReplaced = before.scheduled.has(id) && state === 'expired'
      const isAllowed = isReplaced || changesOfState[known.state].includes(state)
      world.require(isAllowed, `${name}: ${known.state} became ${state}`)
      world.require(known.amountRub === amountRub, `${name}: its amount changed`)
    }
    const price = world.prices.get(id)
    world.require(price === undefined || price === amountRub, `${name}: ${amountRub} for ${price}`)
    world.require(paid <= (state === 'confirmed' ? 1 : 0), `${name}: ${state}, paid ${paid} times`)
    const isTold = state === 'declined' || (state === 'confirmed' && amountRub > 0)
    world.require(
      order.told === Number(isTold),
      `${name}: ${state}, owners told ${order.told} times`,
    )
    if (state !== 'confirmed') continue
    const papers = `${order.confirmations} letters, ${order.audited} entries`
    const hasPapers = order.confirmations === 1 && order.audited === 1
    world.require(hasPapers && order.subscription !== null, `${name}: confirmed with ${papers}`)
  }
  for (const [id, { state }] of before.orders) {
    const isKept = after.orders.has(id) || (state !== 'waiting' && state !== 'confirmed')
    world.require(isKept, `${world.nameOf(id)}: a ${state} order was removed`)
  }
}

/** A priced order has its invoice, then its receipt with its number, for the same buyer and sum. */
function checkPapers(world: World, before: Books, after: Books): void {
  for (const [id, { amountRub, state, paper, receipt }] of after.orders) {
    const name = world.nameOf(id)
    world.require((paper !== null) === amountRub > 0, `${name}: ${amountRub} RUB, paper ${paper}`)
    if (paper === null) continue
    const { kind, title, parties, lines } = paperIn(paper)
    const wanted = state === 'confirmed' ? 'receipt' : 'invoice'
    world.require(kind === wanted, `${name}: ${state}, with ${kind}`)
    const number = state === 'confirmed' ? `Receipt ${receipt} ` : `Invoice ${id} `
    world.require(title.startsWith(number), `${name}: its paper is "${title}"`)
    const was = before.orders.get(id)?.paper
    if (typeof was !== 'string') continue
    const isSame = JSON.stringify([paperIn(was).parties, paperIn(was).lines])
    world.require(isSame === JSON.stringify([parties, lines]), `${name}: another buyer or sum`)
  }
}

function paperIn(text: string): Paper {
  // The shop wrote it.
  return JSON.parse(text) as Paper
}

/** A change to something cheaper never comes before the end; paid orders have numbers without gaps. */
function checkScheduled(world: World, before: Books, after: Books): void {
  for (const [id, { at, subscription }] of before.scheduled) {
    if (after.scheduled.has(id) || after.orders.get(id)?.state !== 'confirmed') continue
    const now = after.subscriptions.get(subscription)?.entries ?? 0
    const was = before.subscriptions.get(subscription)?.entries ?? 0
    world.require(now > was, `${world.nameOf(id)}: it is gone without an entry`)
    world.require(world.now >= at, `${world.nameOf(id)}: cheaper plans before the end of the term`)
  }
  for (const { at, subscription } of after.scheduled.values()) {
    const end = after.subscriptions.get(subscription)?.expiresAt ?? 0
    world.require(at <= end, `${world.nameOf(subscription)}: a change beyond the end of its term`)
  }
  const years = Map.groupBy(after.receipts, (number) => number.split('-')[0] ?? '')
  for (const [year, numbers] of years) {
    const wanted = numbers.map((_, at) => `${year}-${at + 1}`)
    world.require(numbers.join() === wanted.join(), `the numbers of ${year}: ${numbers.join()}`)
  }
}

/** A term changes only with an entry among the orders, and nothing that was sold disappears. */
function checkSubscriptions(world: World, before: Books, after: Books): void {
  for (const [id, known] of before.subscriptions) {
    const now = after.subscriptions.get(id)
    const name = world.nameOf(id)
    world.require(now !== undefined, `${name} is gone`)
    if (!now || now.entries > known.entries) continue
    const isCancelled = known.cancelledAt !== null
    const isSame =
      now.expiresAt === known.expiresAt && (!isCancelled || now.cancelledAt === known.cancelledAt)
    const hasSame = JSON.stringify([...now.grants]) === JSON.stringify([...known.grants])
    world.require(isSame && hasSame, `${name} changed without an entry among the orders`)
  }
  for (const [id, { entries, grants }] of after.subscriptions) {
    const isWhole = entries > 0 && grants.size > 0
    world.require(isWhole, `${world.nameOf(id)}: ${entries} entries, ${grants.size} plans`)
  }
  for (const [id, known] of before.tokens) {
    const now = after.tokens.get(id)
    const isGone = known.revokedAt !== null && now?.revokedAt === null
    world.require(now !== undefined && !isGone, 'a revoked token came back')
  }
}

/** Each letter is handed over once; again only where its end could not be saved. */
function checkLetters(world: World, before: Books, after: Books): void {
  const handed = new Map<string, number>()
  for (const { id } of world.post.letters) handed.set(id, (handed.get(id) ?? 0) + 1)
  for (const [id, { state, kind, error }] of after.letters) {
    const was = before.letters.get(id)?.state ?? 'waiting'
    const words = `the ${kind} ${id}`
    world.require(was === 'waiting' || was === state, `${words}: ${was} became ${state}`)
    const times = handed.get(id) ?? 0
    world.require(state !== 'sent' || times > 0, `${words}: sent, and never handed over`)
    world.require(times <= 1 + world.post.unsaved, `${words}: handed over ${times} times`)
    world.require(state !== 'failed' || !world.post.isReliable, `${words}: given up: ${error}`)
  }
}

/** No token works beyond its subscription, and a live one works; the same of agents. */
export async function checkTokens(world: World): Promise<void> {
  for (let count = 0; count < tokensAskedMax; count++) {
    const token = world.oneOf(world.tokens)
    if (!token) return
    const { status } = await world.get('/v1/account', token.secret)
    const wanted = isLive(world, token) ? 200 : 401
    const name = world.nameOf(token.subscription)
    world.require(status === wanted, `a token of ${name}: ${status} and not ${wanted}`)
  }
  const agent = world.oneOf(world.agents)
  if (!agent) return
  const answer = await world.get('/mcp', agent.access, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  })
  const name = world.nameOf(agent.subscription)
  const isOpen = isLive(world, agent.token) && world.now < agent.accessUntil
  world.require(answer.status === (isOpen ? 200 : 401), `an agent of ${name}: ${answer.status}`)
}

/** Whether a token must work now, by what the books say of it. */
function isLive(world: World, { secret, subscription: id }: Token): boolean {
  const books = world.books()
  const { now } = world
  const hash = hashToken(secret).toString('hex')
  const token = [...books.tokens.values()].find((each) => each.hash === hash)
  const subscription = books.subscriptions.get(id)
  if (!token || !subscription || token.subscription !== id) return false
  const isEnded = token.revokedAt !== null || subscription.cancelledAt !== null
  const endsAt = Math.min(token.expiresAt ?? Infinity, subscription.expiresAt)
  return !isEnded && now < endsAt
}

/** `readyz` tells the truth about the store and about the files. */
export async function checkReady(world: World): Promise<void> {
  const { status, body } = await world.get('/readyz')
  world.require(status === 200, `readyz says ${status}, and nothing is wrong`)
  const isBad = [...world.delivered.values()].some((each) => each.isBad)
  const reload = isBad ? 'refused' : 'ok'
  world.require(body['reload'] === reload, `readyz says reload ${String(body['reload'])}`)
  world.require(body['data'] === 'ok', `readyz says data ${String(body['data'])}`)
}
