import { Agent } from 'node:http'
import type { TestFilter } from '../../../test/support/carriers.js'
import { startClients } from '../../harness/clients.js'
import { doors, messageOf } from '../../harness/doors.js'
import type { Door } from '../../harness/doors.js'
import { demand, Fault } from '../../harness/fault.js'
import type { Sold } from '../../harness/fixture.js'
import type { Message } from '../../harness/http.js'
import type { Random } from '../../harness/random.js'
import { ask } from './ask.js'
import type { Answer, Page } from './ask.js'
import type { Cost, Ledger } from './ledger.js'
import { checkFirst, rowsOf, sizeOf } from './rows.js'
import type { Table } from './rows.js'

/** One request of a mix, what it costs, and what must come of it. */
export interface Drawn {
  readonly kind: Kind
  readonly dataset: string
  readonly message: Message
  readonly cost: Cost
  /** The status of its answer, where nothing disturbs the server. */
  readonly status: number
  /** @throws Fault where a row is wrong or missing */
  readonly check: (page: Page) => void
}

const limitMax = 400
/** By id, every row is a group; with five measures it has more cells than a row. */
const measuresOf = [['count'], ['count', 'sum(id)', 'min(id)', 'max(id)', 'avg(id)']] as const
const columns = 5
const topDoors = ['get', 'mcp'] as const
const wrongToken = `das_live_${'x'.repeat(20)}`

/** How each kind of request is drawn. */
const kinds = {
  'look-up': (random: Random, table: Table) => {
    const id = random.whole(0, table.rows - 1)
    return rowsAt(random, table, { from: id, to: id + 1, limit: 100 })
  },
  // Near the end, answers are short, and beyond it empty.
  rows: (random: Random, table: Table) => {
    const from = random.whole(0, table.rows + limitMax)
    return rowsAt(random, table, { from, to: table.rows, limit: random.whole(1, limitMax) })
  },
  CSV: (random: Random, table: Table) => {
    const from = random.whole(0, table.rows - 1)
    const drawn = rowsAt(random, table, { from, to: table.rows, limit: 50, door: 'get' })
    const message = { ...drawn.message, headers: { accept: 'text/csv' } }
    return { ...drawn, message, check: () => undefined }
  },
  /** MCP explains why there are no rows, for the price of one. */
  explained: (_random: Random, { name: dataset }: Table) => {
    const message = messageOf('mcp', { dataset, limit: 1, filters: [['id', 'lt', 0]] })
    return { message, cost: { kind: 'each', most: 1 } as const }
  },
  aggregate: (random: Random, { name: dataset, rows }: Table) => {
    const [limit, from] = [random.whole(1, limitMax), random.whole(0, rows + limitMax)]
    const measures = random.oneOf(measuresOf)
    const groups = Math.min(limit, Math.max(rows - from, 0))
    const more = { group: ['id'], measures }
    const asked = { dataset, tool: 'aggregate', limit, filters: [fromId(from)], more } as const
    const cost = { groups, rows: groups * Math.ceil((1 + measures.length) / columns) }
    return {
      message: messageOf(random.oneOf(doors), asked),
      cost: { kind: 'whole', ...cost } as const,
    }
  },
  top: (random: Random, { name: dataset, rows, years }: Table) => {
    const [limit, from] = [random.whole(1, limitMax), random.whole(0, rows + limitMax)]
    const filters = [fromId(from)]
    const asked = { dataset, tool: 'top', limit, filters, more: { by: '-id' } } as const
    const door = random.oneOf(topDoors)
    const due = Math.min(limit, Math.max(rows - from, 0) * years.length)
    return {
      message: messageOf(door, asked),
      cost: { kind: 'each', most: limit } as const,
      check: (page: Page) => requireSize(page, due, `the top from ${from} on`),
    }
  },
  'no rows': (_random: Random, { name }: Table) => free(`/v1/${name}?id=eq.-1`),
  schema: (_random: Random, { name }: Table) => free(`/v1/${name}/schema`),
  catalog: () => free('/v1'),
  'wrong question': (_random: Random, { name }: Table) => free(`/v1/${name}?idd=eq.1`, 400),
  'unknown dataset': () => free('/v1/nothing?id=eq.1', 404),
  'wrong token': () => free('/v1', 401),
  health: () => free('/healthz'),
} as const satisfies Record<string, (random: Random, table: Table) => Partial<Drawn>>
type Kind = keyof typeof kinds

/** How often each kind is asked. */
type Weights = Readonly<Partial<Record<Kind, number>>>

/** Clients that ask a mix as subscribers, and note what each answer cost. */
interface Mixing {
  readonly base: string
  readonly clients: number
  readonly random: (client: number) => Random
  readonly tables: readonly Table[]
  readonly weights: Weights
  /** Those that ask now. */
  readonly buyers: () => readonly Sold[]
  readonly ledger: Ledger
  /** What else is done with an answer; throws where it may not be. */
  readonly judge: (drawn: Drawn, answer: Answer) => Promise<void> | void
  readonly onStatus?: (status: number) => void
}

/** Starts the clients, each with a connection of its own. */
export function startMix(mixing: Mixing) {
  const { base, clients, tables, weights, ledger, judge, onStatus } = mixing
  const bag = Object.entries(weights).flatMap(([kind, weight]) => {
    return Array.from({ length: weight }, () => kind as Kind)
  })
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const running = startClients(clients, (client) => {
    const random = mixing.random(client)
    return async () => {
      const { subscription, token } = random.oneOf(mixing.buyers())
      const table = random.oneOf(tables)
      const kind = random.oneOf(bag)
      const parts: Partial<Drawn> & Pick<Drawn, 'message' | 'cost'> = kinds[kind](random, table)
      const drawn = { kind, dataset: table.name, status: 200, check: () => undefined, ...parts }
      const target = { base, agent, token: kind === 'wrong token' ? wrongToken : token }
      const answer = await ask(target, drawn.message, onStatus)
      await judge(drawn, answer)
      if (answer.kind === 'page') drawn.check(answer)
      ledger.note({ subscription, dataset: drawn.dataset, cost: drawn.cost }, answer)
    }
  })
  return { stop: running.stop, done: running.done.finally(() => agent.destroy()) }
}

/** What came of a request, for an error. */
export function unexpected({ kind, message }: Drawn, answer: Answer): Fault {
  const words = answer.kind === 'page' ? `${answer.rows.length} rows` : JSON.stringify(answer)
  const asked = `${message.method} ${message.path} ${message.body}`
  return new Fault(`unexpected answer to ${kind}: ${words}, to ${asked}`)
}

interface RowsAt {
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly door?: Door
}

function rowsAt(
  random: Random,
  table: Table,
  { from, to, limit, door = random.oneOf(doors) }: RowsAt,
) {
  const selection = { years: table.years, from, to: Math.max(from, to) }
  const filters: TestFilter[] = [fromId(from)]
  if (to === from + 1) filters.push(['id', 'lt', to])
  const due = Math.min(limit, sizeOf(selection))
  return {
    message: messageOf(door, { dataset: table.name, limit, filters }),
    cost: { kind: 'each', most: limit } as const,
    check: (page: Page) => {
      checkFirst(rowsOf(page.rows), table, selection)
      requireSize(page, due, `rows of ${table.name} from ${from} on`)
    },
  }
}

/** Pages of MCP end earlier where their rows are long, and any where the quota ends. */
function requireSize({ rows: { length: found }, isLast }: Page, due: number, what: string): void {
  demand(found === due || (isLast && found < due), `${found} ${what}, not ${due}`)
}

function fromId(value: number): TestFilter {
  return ['id', 'gte', value]
}

function free(path: string, status = 200) {
  const message = { method: 'GET', path, body: '' } as const
  return { message, status, cost: { kind: 'free' } as const }
}
