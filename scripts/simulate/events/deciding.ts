import type { InjectOptions } from 'fastify'
import type { OrderRow } from '../books.js'
import { requestOf } from '../world.js'
import type { World } from '../world.js'
import { enter, isIn, pageForm } from './owning.js'
import { failure } from './selling.js'

const linksLookedAtMax = 5
const linkLifeMs = 14 * 86_400_000
/** What a button makes of an order. */
const states = { confirm: 'confirmed', decline: 'declined' } as const
type Action = keyof typeof states

/** A press of a button, on the owner's page or on that of a letter's link. */
interface Press {
  readonly words: string
  readonly action: Action
  /** Who presses, as the audit trail says it. */
  readonly by: string
  readonly request: InjectOptions
  /** It may decide an order that is like this one, at this time. */
  readonly mayDecide: (order: OrderRow | undefined) => boolean
  /** Its answer where it did. */
  readonly done: 200 | 303
}

/** The owner confirms or declines by command. */
export async function decide(world: World): Promise<string> {
  const order = world.oneOf(world.books().orders.values())
  if (!order) return 'no order'
  const verb = world.random.oneOf(['confirm', 'confirm', 'decline'])
  const done = await world.house.das(['order', verb, order.id])
  const after = world.books().orders.get(order.id)
  world.require(isOpen(order) || done.code !== 0, `${verb} of an order that is ${order.state}`)
  const outcome = done.code === 0 ? (after?.state ?? '') : failure(world, done)
  return `${verb} ${world.nameOf(order.id)} ${order.state} → ${outcome}`
}

/** The owner opens the link of a letter about an order and presses a button, perhaps twice. */
export async function click(world: World): Promise<string> {
  const links = linksIn(world)
  const link = world.oneOf(world.random.oneOf([links.slice(-linksLookedAtMax), links]))
  if (!link) return 'no letter has a link'
  if (world.random.whole(1, 4) === 1) return await look(world, link)
  const press = () => linkPress(world, link)
  return await pressEach(world, link.order, repeated(world, press))
}

/** A signed-in owner presses buttons on the page; so may the other one, and the link of a letter. */
export async function pressOnPage(world: World): Promise<string> {
  const orders = [...world.books().orders.values()]
  const open = orders.filter(({ state }) => state === 'waiting' || state === 'expired')
  const order = world.oneOf(world.random.whole(1, 5) > 1 ? open : orders)
  if (!order) return 'no order'
  await enter(world)
  const onPage = () => pagePress(world, order.id)
  const link = linksIn(world).find((each) => each.order === order.id)
  const other = link ? () => linkPress(world, link) : onPage
  const presses = world.random.oneOf([repeated(world, onPage), [onPage(), other()]])
  const words = world.random.whole(1, 2) === 1 ? pressEach : pressAtOnce
  return await words(world, order.id, presses)
}

function repeated(world: World, press: () => Press): readonly Press[] {
  return Array.from({ length: world.random.whole(1, 2) }, press)
}

/** Shows the order of a link, which changes nothing. */
async function look(world: World, link: Link): Promise<string> {
  const before = world.books().orders.get(link.order)
  const fields = [['secret', link.secret] as const, ['action', 'show'] as const]
  const { status } = await world.postForm('/owner/order', fields)
  const after = world.books().orders.get(link.order)
  const wanted = isOpenForLink(world, before) ? [200] : [410]
  const words = `show ${world.nameOf(link.order)} ${before?.state ?? 'removed'} → ${status}`
  world.require(wanted.includes(status) || status >= 500, `${words}, not ${wanted.join()}`)
  world.require(isKept(before, after), `${words}, and it is ${after?.state}`)
  return words
}

/** One press after the other: each does what it may do, and nothing else. */
async function pressEach(world: World, id: string, presses: readonly Press[]): Promise<string> {
  const steps: string[] = []
  for (const press of presses) steps.push(await pressAtOnce(world, id, [press]))
  return steps.join('; ')
}

/** Presses at the same moment: at most one decides, and the order is what that one made of it. */
async function pressAtOnce(world: World, id: string, presses: readonly Press[]): Promise<string> {
  const before = world.books().orders.get(id)
  const may = presses.map(({ mayDecide }) => mayDecide(before))
  const sent = Promise.all(presses.map(({ request }) => world.house.send(request)))
  const answers = await world.machine.outcome(sent)
  const after = world.books().orders.get(id)
  const shown = presses.map(({ words }, at) => `${words} → ${answers[at]?.status}`).join(', ')
  const words = `${shown}: ${world.nameOf(id)} ${before?.state} → ${after?.state ?? 'removed'}`
  const deciding = presses.filter(
    ({ done }, at) => may[at] === true && answers[at]?.status === done,
  )
  for (const [at, { done }] of presses.entries()) {
    const { status } = answers[at] ?? {}
    // The page leads a stranger to its start, like an owner whose press is done.
    world.require(may[at] === true || status !== done || done === 303, `${words}: it has no right`)
  }
  world.require(deciding.length <= 1, `${words}: two decided`)
  const [first] = deciding
  if (first === undefined) world.require(isKept(before, after), `${words}: and nobody did it`)
  else {
    const isDone = after?.state === states[first.action] && after.by === first.by
    world.require(isDone, `${words} by ${after?.by}`)
  }
  return words
}

function linkPress(world: World, link: Link): Press {
  const action = world.random.oneOf(['confirm', 'confirm', 'decline'] as const)
  const fields = [['secret', link.secret] as const, ['action', action] as const]
  return {
    ...{ words: `${action} by link`, action, by: 'link', done: 200 },
    request: requestOf('/owner/order', undefined, world.form(fields)),
    mayDecide: (order) => isOpenForLink(world, order),
  }
}

function pagePress(world: World, order: string): Press {
  const action = world.random.oneOf(['confirm', 'confirm', 'decline'] as const)
  const session = world.oneOf(world.owners)
  const by = session?.email ?? 'a stranger'
  const fields = [['order', order] as const, ['action', action] as const]
  return {
    ...{ words: `${action} by ${by}`, action, by, done: 303 },
    request: requestOf('/owner/orders', undefined, pageForm(world, session, fields)),
    mayDecide: (found) => session !== undefined && isIn(world, session) && isOpen(found),
  }
}

/** Neither decided nor replaced by a newer one. */
function isOpen(order: OrderRow | undefined): boolean {
  return order?.state === 'waiting' || (order?.state === 'expired' && order.amountRub > 0)
}

function isOpenForLink(world: World, order: OrderRow | undefined): boolean {
  return order?.state === 'waiting' && world.now < order.orderedAt + linkLifeMs
}

/** Nothing was decided; its time may have ended. */
function isKept(before: OrderRow | undefined, after: OrderRow | undefined): boolean {
  const isExpired = before?.state === 'waiting' && after?.state === 'expired'
  return before?.state === after?.state || isExpired
}

interface Link {
  readonly order: string
  readonly secret: string
}

/** The links in letters to the owners, oldest first. */
function linksIn({ post }: World): readonly Link[] {
  return post.letters.flatMap(({ text }) => {
    const [secret] = /(?<=owner\/order#)\S+/.exec(text) ?? []
    const [order] = /ord_[0-9A-Za-z]{16}/.exec(text) ?? []
    return secret === undefined || order === undefined ? [] : [{ order, secret }]
  })
}
