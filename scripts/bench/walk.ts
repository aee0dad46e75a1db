import type { Answer, Contestant } from './field.js'
import type { Place } from './messages.js'
import { walkQuestion } from './questions.js'

/** How far a contestant has walked. */
export class Walk {
  readonly contestant: Contestant
  readonly times: number[] = []
  readonly firstMs: number[] = []
  readonly lastMs: number[] = []
  /** By `inn` and `year`, which are unique. */
  readonly keys = new Set<string>()
  rows = 0
  place: Place = null
  /** Of the last full page. */
  last: Place = null
  isOver = false

  constructor(contestant: Contestant) {
    this.contestant = contestant
  }

  goOn({ ms, rows, next }: Answer): void {
    this.times.push(ms)
    this.rows += rows.length
    for (const { inn, year } of rows) this.keys.add(`${String(inn)} ${String(year)}`)
    if (rows.length === walkQuestion.limit) this.last = this.place
    this.place = next
    this.isOver = next === null
  }
}
