import { datasets, rowsOfDataset } from './house.js'
import type { Subscriber } from './house.js'
import type { Random } from './random.js'

/** One request for a page. */
export interface Question {
  readonly door: 'get' | 'post' | 'mcp'
  readonly subscriber: Subscriber
  readonly dataset: string
  readonly limit: number
  /** The first id asked for: near the end, pages are short, and beyond it empty. */
  readonly from: number
}

const limitMax = 400
const doors = ['get', 'get', 'post', 'mcp'] as const

/** The next question of a client. */
export function drawQuestion(random: Random, subscribers: readonly Subscriber[]): Question {
  return {
    door: random.oneOf(doors),
    subscriber: random.oneOf(subscribers),
    dataset: random.oneOf(datasets),
    limit: random.whole(1, limitMax),
    from: random.whole(0, rowsOfDataset + limitMax),
  }
}
