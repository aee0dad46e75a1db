import { aggregateMessage, pageMessage, topMessage } from '../harness/doors.js'
import type { Door, Filter } from '../harness/doors.js'
import type { Message } from '../harness/http.js'
import type { Random } from '../harness/random.js'
import { columnsOfDataset, datasets, rowsOfDataset } from './charges-fixture.js'
import type { Subscriber } from './charges-fixture.js'

/** One request, and what its answer costs. */
export interface Question {
  /** For an error. */
  readonly name: string
  readonly subscriber: Subscriber
  readonly dataset: string
  readonly message: Message
  readonly isTool: boolean
  readonly cost: Cost
}

/** Rows and tops cost a row each, which may be fewer than asked for; an aggregate its whole cost. */
export type Cost =
  | { readonly kind: 'each'; readonly most: number }
  | { readonly kind: 'whole'; readonly groups: number; readonly rows: number }

interface Draw {
  readonly door: Door
  readonly dataset: string
  readonly limit: number
  /** The first id asked for: near the end, answers are short, and beyond it empty. */
  readonly from: number
}

const limitMax = 400
const kinds = ['rows', 'rows', 'aggregate', 'top'] as const
const doors = ['get', 'get', 'post', 'mcp'] as const
const topDoors = ['get', 'mcp'] as const
/** One of four questions for rows over MCP matches none: the explanation costs one row. */
const contradictionShare = 4
/** By id, every row is a group; with two measures it has more cells than a row. */
const measuresOf = [['count'], ['count', 'sum(id)']] as const

/** Draws the next question of a client. */
export function drawQuestion(random: Random, subscribers: readonly Subscriber[]): Question {
  const kind = random.oneOf(kinds)
  const draw = {
    dataset: random.oneOf(datasets),
    limit: random.whole(1, limitMax),
    from: random.whole(0, rowsOfDataset + limitMax),
  }
  const door = kind === 'top' ? random.oneOf(topDoors) : random.oneOf(doors)
  return {
    name: `${kind} by ${door}`,
    subscriber: random.oneOf(subscribers),
    dataset: draw.dataset,
    isTool: door === 'mcp',
    ...partsOf(random, kind, { ...draw, door }),
  }
}

function partsOf(
  random: Random,
  kind: (typeof kinds)[number],
  draw: Draw,
): Pick<Question, 'message' | 'cost'> {
  const { door, from, ...asked } = draw
  const filters: Filter[] = [{ column: 'id', op: 'gte', value: from }]
  if (kind === 'aggregate') {
    const measures = random.oneOf(measuresOf)
    const groups = Math.min(asked.limit, Math.max(rowsOfDataset - from, 0))
    const rows = groups * Math.ceil((1 + measures.length) / columnsOfDataset)
    const message = aggregateMessage(door, { ...asked, filters, group: ['id'], measures })
    return { message, cost: { kind: 'whole', groups, rows } }
  }
  if (kind === 'top' && door !== 'post') {
    const message = topMessage(door, { ...asked, filters, by: '-id' })
    return { message, cost: { kind: 'each', most: asked.limit } }
  }
  const isContradiction = door === 'mcp' && random.whole(1, contradictionShare) === 1
  if (isContradiction) filters.push({ column: 'id', op: 'lt', value: 0 })
  const limit = isContradiction ? 1 : asked.limit
  const message = pageMessage(door, { ...asked, limit, filters })
  return { message, cost: { kind: 'each', most: limit } }
}
