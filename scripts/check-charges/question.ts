import type { Door } from '../harness/doors.js'
import type { Random } from '../harness/random.js'
import { datasets, rowsOfDataset } from './charges-fixture.js'
import type { Subscriber } from './charges-fixture.js'

/** One request for a page. */
export interface Question {
  readonly door: Door
  readonly subscriber: Subscriber
  readonly dataset: string
  readonly limit: number
  /** The first id asked for: near the end, pages are short, and beyond it empty. */
  readonly from: number
  /** Matches no row, over MCP: the explanation costs one. */
  readonly isContradiction: boolean
}

const limitMax = 400
const doors = ['get', 'get', 'post', 'mcp'] as const
/** One of four questions over MCP. */
const contradictionShare = 4

/** Draws the next question of a client. */
export function drawQuestion(random: Random, subscribers: readonly Subscriber[]): Question {
  const door = random.oneOf(doors)
  const isContradiction = door === 'mcp' && random.whole(1, contradictionShare) === 1
  return {
    door,
    subscriber: random.oneOf(subscribers),
    dataset: random.oneOf(datasets),
    limit: isContradiction ? 1 : random.whole(1, limitMax),
    from: random.whole(0, rowsOfDataset + limitMax),
    isContradiction,
  }
}
