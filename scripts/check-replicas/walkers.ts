import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Value } from 'typebox/value'
import { startClients } from '../harness/clients.js'
import type { Clients } from '../harness/clients.js'
import { pageMessage } from '../harness/doors.js'
import { Fault } from '../harness/fault.js'
import { send, SocketError } from '../harness/http.js'
import type { Target } from '../harness/http.js'
import { randomOf } from '../harness/random.js'
import type { Random } from '../harness/random.js'
import type { Ledger } from './ledger.js'
import type { Outage } from './outage.js'
import { dataset, rowsOfDataset, valueOf } from './replicas-fixture.js'
import type { Subscriber } from './replicas-fixture.js'

interface WalkersOptions {
  readonly base: string
  readonly subscribers: readonly Subscriber[]
  readonly clients: number
  readonly seed: number
  readonly ledger: Ledger
  readonly outage: Outage
}

/** A walk between two pages. */
interface Walk {
  readonly subscriber: Subscriber
  readonly door: 'get' | 'post'
  readonly limit: number
  /** Ids from `from` up to `to`, which is not asked for; those from `next` on are to come. */
  readonly from: number
  readonly next: number
  readonly to: number
  readonly cursor: string | null
}

type PageOf = Static<typeof Page>
type Answer =
  | { readonly kind: 'page'; readonly page: PageOf }
  /** What came instead: a status, or how the connection broke. */
  | { readonly kind: 'failure'; readonly what: string; readonly status: number | null }

/** Pages of a walk at most, and rows of a page at most. */
const pagesMax = 20
export const limitMax = 400
const outagePauseMs = 100
/** Every row begins so, and nothing else does. */
const rowStart = /\{"id":\d/g

const Page = Type.Object({
  data: Type.Array(Type.Object({ id: Type.Integer(), value: Type.Integer() })),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})

/** Starts clients that walk through nginx; each ends its walk before it stops. */
export function startWalkers(options: WalkersOptions): Clients {
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients })
  const { stop, done } = startClients(options.clients, (client) => {
    const random = randomOf(options.seed, client)
    return async () => {
      let walk: Walk | null = drawWalk(random, options.subscribers)
      while (walk) walk = await nextPage(options, agent, walk)
      options.ledger.walks += 1
    }
  })
  return { stop, done: done.finally(() => agent.destroy()) }
}

function drawWalk(random: Random, subscribers: readonly Subscriber[]): Walk {
  const limit = random.whole(1, limitMax)
  const span = random.whole(1, pagesMax * limit)
  const from = random.whole(0, rowsOfDataset - span)
  const subscriber = random.oneOf(subscribers)
  const door = random.oneOf(['get', 'get', 'post'] as const)
  return { subscriber, door, limit, from, next: from, to: from + span, cursor: null }
}

/** Reads one more page and checks it; null at the end of the walk. */
async function nextPage(options: WalkersOptions, agent: Agent, walk: Walk): Promise<Walk | null> {
  const { data, next_cursor: cursor } = await askUntilAnswered(options, agent, walk)
  const due = Math.min(walk.limit, walk.to - walk.next)
  if (data.length !== due) throw fault(walk, `${data.length} rows, not ${due}`)
  for (const [at, { id, value }] of data.entries()) {
    if (id !== walk.next + at) throw fault(walk, `row ${id} in the place of ${walk.next + at}`)
    if (value !== valueOf(id)) throw fault(walk, `row ${id} has the value ${value}`)
  }
  const next = walk.next + due
  if ((cursor === null) !== (next === walk.to)) throw fault(walk, 'a wrong end of the walk')
  return cursor === null ? null : { ...walk, next, cursor }
}

/** One failure is healed by the second try; while PostgreSQL is away, tries follow. */
async function askUntilAnswered(
  { base, ledger, outage }: WalkersOptions,
  agent: Agent,
  walk: Walk,
): Promise<PageOf> {
  let failed: string | null = null
  for (;;) {
    const sentMs = performance.now()
    const answer = await ask({ base, agent, token: walk.subscriber.token }, walk, ledger)
    const isUnpaid = outage.covers(sentMs)
    if (isUnpaid && (answer.kind === 'page' || answer.status !== 503)) {
      const what = answer.kind === 'page' ? 'a page that nobody paid' : answer.what
      throw fault(walk, `${what}, not 503, while PostgreSQL was away`)
    }
    if (answer.kind === 'page') {
      if (failed !== null) ledger.healed += 1
      return answer.page
    }
    if (outage.touches(sentMs)) {
      ledger.refused += 1
      await sleep(outagePauseMs)
    } else if (failed === null) {
      failed = answer.what
    } else {
      throw fault(walk, `${answer.what}, on the second try; on the first: ${failed}`)
    }
  }
}

async function ask(target: Target, walk: Walk, ledger: Ledger): Promise<Answer> {
  const { subscriber, limit } = walk
  ledger.requests += 1
  try {
    const { status, text, isComplete } = await send(target, messageOf(walk))
    if (status === 200 && isComplete) {
      const page = Value.Parse(Page, JSON.parse(text))
      ledger.deliver(subscriber.id, page.data.length)
      return { kind: 'page', page }
    }
    const arrived = status === 200 ? (text.match(rowStart)?.length ?? 0) : 0
    ledger.deliver(subscriber.id, arrived)
    ledger.rowsAtRisk += limit - arrived
    if (status === 200) ledger.cutOff += 1
    const what = isComplete ? `${status} ${text.slice(0, 300)}` : `a broken answer (${status})`
    return { kind: 'failure', what, status }
  } catch (cause) {
    if (!(cause instanceof SocketError)) throw cause
    ledger.rowsAtRisk += limit
    return { kind: 'failure', what: cause.message, status: null }
  }
}

function messageOf({ door, limit, from, to, cursor }: Walk) {
  const filters = [
    { column: 'id', op: 'gte', value: from },
    { column: 'id', op: 'lt', value: to },
  ]
  return pageMessage(door, { dataset, limit, filters, cursor })
}

function fault({ door, limit, from, to, subscriber }: Walk, what: string): Fault {
  const asked = `${door}, ids ${from} to ${to - 1}, limit ${limit}, ${subscriber.id}`
  return new Fault(`${what} (${asked})`)
}
