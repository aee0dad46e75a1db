import { median, sum } from '../harness/statistics.js'
import type { Answer, Contestant, Row } from './contestant.js'
import type { Facts } from './facts.js'
import type { Place } from './messages.js'
import { walkQuestion } from './questions.js'
import { rotated } from './rounds.js'

/** What came of one contestant's walk. */
export interface WalkResult {
  readonly contestant: string
  readonly pages: number
  readonly rows: number
  /** Rows that arrived more than once. */
  readonly duplicated: number
  /** Rows that so many pages should hold, and do not. */
  readonly missing: number
  readonly totalMs: number
  readonly pageMs: number
  /** Medians of the first page and the last full one, asked for in turns. */
  readonly firstPageMs: number
  readonly lastPageMs: number
  readonly fault: string | null
}

export interface WalkOrder {
  readonly pages: number
  /** Of the peers: each of their pages costs more than the one before. */
  readonly peerPages: number
}

const repeats = 20
const few = 10

/** Walks everything in pages of 1000 rows, each contestant in its own way, page by page in turns. */
export async function runWalks(
  contestants: readonly Contestant[],
  facts: Facts,
  order: WalkOrder,
  update: (words: string) => void,
): Promise<readonly WalkResult[]> {
  const walks = contestants.map((contestant) => new Walk(contestant))
  // The first use compiles and opens things: it is not part of a walk.
  for (const walk of walks) await walk.warmUp()
  for (let page = 0; page < order.pages; page += 1) {
    if (page % few === 0) update(`W6 page ${page + 1} of ${order.pages}`)
    for (const walk of rotated(walks, page)) {
      const isPeer = walk.contestant.target !== null && walk.contestant.kind !== 'das'
      if (!isPeer || page < order.peerPages) await walk.step()
    }
  }
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    update(`W6 first and last page, ${repeat + 1} of ${repeats}`)
    for (const walk of rotated(walks, repeat)) await walk.repeat()
  }
  return walks.map((walk) => {
    const own = walks.find(
      ({ contestant }) =>
        contestant.kind === 'engine' && contestant.dataset === walk.contestant.dataset,
    )
    return walk.result(facts, walk.contestant.kind === 'das' && own ? own : null)
  })
}

class Walk {
  readonly contestant: Contestant
  /** By inn and year, which are unique. */
  readonly #seen = new Set<number>()
  readonly #pagesMs: number[] = []
  readonly #firstMs: number[] = []
  readonly #lastMs: number[] = []
  #rows = 0
  #next: Place = null
  #isOver = false
  /** Why a page failed. */
  #failure: string | null = null
  /** Of the last full page. */
  #last: Place = null

  constructor(contestant: Contestant) {
    this.contestant = contestant
  }

  async warmUp(): Promise<void> {
    await this.#ask(null)
  }

  async step(): Promise<void> {
    if (this.#isOver) return
    const place = this.#next
    const answer = await this.#ask(place)
    if (!answer) return
    this.#pagesMs.push(answer.ms)
    this.#rows += answer.rows.length
    for (const row of answer.rows) this.#seen.add(keyOf(row))
    if (answer.rows.length === walkQuestion.limit) this.#last = place
    this.#next = answer.next
    this.#isOver = answer.next === null
  }

  async repeat(): Promise<void> {
    const first = await this.#ask(null)
    const last = await this.#ask(this.#last)
    if (first) this.#firstMs.push(first.ms)
    if (last) this.#lastMs.push(last.ms)
  }

  /** Null when it failed, now or before: then its walk is over. */
  async #ask(place: Place): Promise<Answer | null> {
    if (this.#failure !== null) return null
    try {
      return await this.contestant.ask(walkQuestion, place)
    } catch (cause) {
      this.#failure = `page failed: ${String(cause)}`
      this.#isOver = true
      return null
    }
  }

  result(facts: Facts, engine: Walk | null): WalkResult {
    const pages = this.#pagesMs.length
    const totalMs = sum(this.#pagesMs)
    const wanted = Math.min(pages * walkQuestion.limit, facts.rows)
    const isSame = engine === null || isEqual(engine.#seen, this.#seen)
    return {
      contestant: this.contestant.name,
      pages,
      rows: this.#rows,
      duplicated: this.#rows - this.#seen.size,
      missing: wanted - this.#seen.size,
      totalMs,
      pageMs: totalMs / pages,
      firstPageMs: median(this.#firstMs),
      lastPageMs: median(this.#lastMs),
      fault: this.#failure ?? (isSame ? null : 'the rows differ from those of the engine'),
    }
  }
}

function isEqual(left: ReadonlySet<number>, right: ReadonlySet<number>): boolean {
  return left.size === right.size && [...left].every((key) => right.has(key))
}

function keyOf({ inn, year }: Row): number {
  return Number(inn) * 10_000 + Number(year)
}
