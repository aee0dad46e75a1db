import type { Answer } from '../house.js'
import { BrokenPromise, requestOf, shownAnswer } from '../world.js'
import type { Token, Walk, World } from '../world.js'
import type { DatasetName } from '../world-files.js'

interface Row {
  readonly id: number
  readonly edition: number
}

const walksMax = 8
const keptMs = 24 * 3_600_000

/** A token, and a dataset that its subscription has; a free choice where it has none. */
export function choose(world: World): { token: Token; dataset: DatasetName } | undefined {
  const token = world.oneOf(world.tokens)
  if (!token) return undefined
  const granted = world.books().subscriptions.get(token.subscription)?.grants ?? new Map()
  const dataset = world.oneOf(granted.keys() as Iterable<DatasetName>) ?? 'companies'
  return { token, dataset }
}

/** The first page of a dataset, which begins a walk. */
export async function readPage(world: World): Promise<string> {
  const chosen = choose(world)
  const limit = world.random.oneOf([1, 7, 20, 50, 100])
  if (!chosen) return 'nobody has a token'
  const { token, dataset } = chosen
  world.ledger.risk(token.subscription, dataset, limit)
  const answer = await world.get(`/v1/${dataset}?limit=${limit}`, token.secret)
  return `${world.nameOf(token.subscription)} ${dataset} ${take(world, chosen, limit, answer)}`
}

/** Several first pages at once. */
export async function readAtOnce(world: World): Promise<string> {
  const limit = world.random.oneOf([20, 100])
  const chosen = [choose(world), choose(world), choose(world)]
  const asked = chosen.flatMap((each) => (each ? [each, each] : []))
  if (asked.length === 0) return 'nobody has a token'
  for (const { token, dataset } of asked) world.ledger.risk(token.subscription, dataset, limit)
  const answers = await world.machine.outcome(
    Promise.all(
      asked.map(({ token, dataset }) =>
        world.house.send(requestOf(`/v1/${dataset}?limit=${limit}`, token.secret)),
      ),
    ),
  )
  const words = answers.map((answer, index) => {
    const each = asked[index]
    return each ? take(world, each, limit, answer) : ''
  })
  return words.join('; ')
}

/** The next page of a walk. */
export async function walkOn(world: World): Promise<string> {
  const walk = world.oneOf(world.walks)
  if (!walk) return 'nobody walks'
  const { token, dataset, limit, edition } = walk
  world.ledger.risk(token.subscription, dataset, limit)
  const query = new URLSearchParams({ limit: String(limit), cursor: walk.cursor })
  const answer = await world.get(`/v1/${dataset}?${query.toString()}`, token.secret)
  const name = `${world.nameOf(token.subscription)} ${dataset} edition ${edition.number}`
  if (answer.status === 200) {
    const rows = rowsOf(answer)
    world.ledger.deliver(token.subscription, dataset, rows.length, limit)
    follow(world, walk, rows, answer)
    return `${name} → 200, rows to ${walk.nextId - 1}`
  }
  settle(world, token, dataset, limit, answer)
  if (answer.status !== 503 && answer.status !== 429) drop(world, walk)
  if (answer.status === 400) {
    const replacedAt = world.delivered.get(dataset)?.replacedAt.get(edition.number) ?? Infinity
    const isKept = world.now - replacedAt < keptMs && world.steppedAt < replacedAt
    const isServed = replacedAt === Infinity
    world.require(!isKept && !isServed, `${name}: a walk ended before its version expired`)
  }
  return `${name} → ${shownAnswer(answer)}`
}

/** Totals of groups of rows. */
export async function summarize(world: World): Promise<string> {
  const chosen = choose(world)
  if (!chosen) return 'nobody has a token'
  const { token, dataset } = chosen
  world.ledger.risk(token.subscription, dataset, 1)
  const answer = await world.get(`/v1/${dataset}/aggregate?measures=count`, token.secret)
  if (answer.status !== 200) settle(world, token, dataset, 1, answer)
  else world.ledger.deliver(token.subscription, dataset, rowsOf(answer).length, 1)
  return `${world.nameOf(token.subscription)} ${dataset} → ${shownAnswer(answer)}`
}

/** The ledger and the walks after the first page of a walk. */
function take(
  world: World,
  { token, dataset }: { token: Token; dataset: DatasetName },
  limit: number,
  answer: Answer,
): string {
  if (answer.status !== 200) {
    settle(world, token, dataset, limit, answer)
    return `limit ${limit} → ${shownAnswer(answer)}`
  }
  const rows = rowsOf(answer)
  world.ledger.deliver(token.subscription, dataset, rows.length, limit)
  const delivered = world.delivered.get(dataset)
  const number = rows[0]?.edition ?? -1
  const edition = delivered?.editions.get(number)
  if (!delivered || !edition || !delivered.served.includes(number)) {
    throw new BrokenPromise(`${dataset}: rows of edition ${number} are not what is served`)
  }
  const walk: Walk = { token, dataset, limit, edition, cursor: '', nextId: 1 }
  world.walks.push(walk)
  follow(world, walk, rows, answer)
  if (world.walks.length > walksMax) world.walks.shift()
  return `limit ${limit} → 200, ${rows.length} rows of edition ${number}`
}

/** Checks a page of a walk: no row is repeated or missed, all are of one edition. */
function follow(world: World, walk: Walk, rows: readonly Row[], answer: Answer): void {
  const { edition, dataset } = walk
  world.require(
    rows.every(
      ({ id, edition: number }, at) => id === walk.nextId + at && number === edition.number,
    ),
    `${dataset}: a walk repeats or misses a row, or changes its edition, at ${walk.nextId}`,
  )
  walk.nextId += rows.length
  const cursor = answer.body['next_cursor']
  if (cursor === null) {
    world.require(walk.nextId === edition.rows + 1, `${dataset}: a walk ended too early`)
    drop(world, walk)
  } else {
    walk.cursor = String(cursor)
  }
}

/** An answer without rows: what refuses before the charge costs nothing. */
export function settle(
  world: World,
  { subscription }: Pick<Token, 'subscription'>,
  dataset: string,
  limit: number,
  { status }: Answer,
): void {
  // The disk may fail after the charge.
  if (status < 500) world.ledger.deliver(subscription, dataset, 0, limit)
  world.require(status !== 500, `${dataset}: an answer is an internal error`)
}

function drop(world: World, walk: Walk): void {
  const at = world.walks.indexOf(walk)
  if (at >= 0) world.walks.splice(at, 1)
}

function rowsOf({ body }: Answer): readonly Row[] {
  return (body['data'] ?? []) as readonly Row[]
}
