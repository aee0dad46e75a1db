import type { World } from '../world.js'
import { failure } from './selling.js'

const linksLookedAtMax = 5
const linkLifeMs = 14 * 86_400_000
/** What a button makes of an order. */
const states = { confirm: 'confirmed', decline: 'declined' } as const

/** The owner confirms or declines by command. */
export async function decide(world: World): Promise<string> {
  const order = world.oneOf(world.books().orders.values())
  if (!order) return 'no order'
  const verb = world.random.oneOf(['confirm', 'confirm', 'decline'])
  const done = await world.house.das(['order', verb, order.id])
  const after = world.books().orders.get(order.id)
  if (order.state === 'confirmed') world.require(done.code !== 0, `${verb} of a confirmed order`)
  const outcome = done.code === 0 ? (after?.state ?? '') : failure(world, done)
  return `${verb} ${world.nameOf(order.id)} ${order.state} → ${outcome}`
}

/** The owner opens the link of a letter about an order and presses a button, perhaps twice. */
export async function click(world: World): Promise<string> {
  const link = world.oneOf(linksIn(world).slice(-linksLookedAtMax))
  if (!link) return 'no letter has a link'
  const action = world.random.oneOf(['show', 'confirm', 'confirm', 'decline'] as const)
  let words = `${action} ${world.nameOf(link.order)}`
  for (let times = world.random.whole(1, 2); times > 0; times--) {
    const before = world.books().orders.get(link.order)
    const fields = [['secret', link.secret] as const, ['action', action] as const]
    const { status } = await world.postForm('/owner/order', fields)
    const after = world.books().orders.get(link.order)?.state
    const isOpen = before?.state === 'waiting' && world.now < before.orderedAt + linkLifeMs
    world.require(status !== 200 || isOpen, `${words}: a link of a ${before?.state} order works`)
    const wanted = status === 200 && action !== 'show' ? states[action] : before?.state
    const isExpired = before?.state === 'waiting' && after === 'expired'
    world.require(after === wanted || isExpired, `${words}: ${status}, and it is ${after}`)
    words += ` → ${status} ${after ?? 'removed'}`
  }
  return words
}

/** The links in letters to the owner, oldest first. */
function linksIn({ post }: World): readonly { readonly order: string; readonly secret: string }[] {
  return post.letters.flatMap(({ text }) => {
    const [secret] = /(?<=owner\/order#)\S+/.exec(text) ?? []
    const [order] = /ord_[0-9A-Za-z]{16}/.exec(text) ?? []
    return secret === undefined || order === undefined ? [] : [{ order, secret }]
  })
}
