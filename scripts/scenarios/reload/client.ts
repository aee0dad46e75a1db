import { setTimeout as sleep } from 'node:timers/promises'
import { doors } from '../../harness/doors.js'
import type { Door } from '../../harness/doors.js'
import { eventually, Fault } from '../../harness/fault.js'
import { getOnce } from '../../harness/http.js'
import type { Target } from '../../harness/http.js'
import type { Random } from '../../harness/random.js'
import { ask } from '../parts/ask.js'
import type { Page } from '../parts/ask.js'
import type { Evidence, Selection } from '../parts/rows.js'
import { messageOf, questionText, readPage, walkThrough } from '../parts/walks.js'
import type { Question, Reader } from '../parts/walks.js'
import { otherTable } from './fixture.js'
import type { ReloadFixture } from './fixture.js'

/** What a phase allows besides right rows. */
export interface Tolerance {
  /** 503, and the end of a walk whose version is gone. */
  mayRefuse: boolean
  /** The server may be away: the same question is asked again. */
  mayBeAway: boolean
}

const awayRestMs = 50
const awaysMax = 1200
const mcpLimit = 200
const mcpRowsMin = 1000
/** Far above what the server needs, for a machine that has other work. */
export const servedMsMax = 120_000

/** What the clients of a phase ask, and what they may receive; all is judged by what was on the disk. */
export class Client implements Reader {
  readonly fixture: ReloadFixture
  readonly counts = { requests: 0, walks: 0, rows: 0, unavailable: 0, gone: 0, away: 0 }
  readonly #target: Target
  readonly #tolerance: Tolerance

  constructor(fixture: ReloadFixture, target: Target, tolerance: Tolerance) {
    this.fixture = fixture
    this.#target = target
    this.#tolerance = tolerance
  }

  /** @throws Fault when the question can't have this answer */
  async ask(question: Question): Promise<Page | 'gone' | null> {
    const { counts } = this
    for (let tries = 1; ; tries++) {
      const before = { ...this.#tolerance }
      counts.requests++
      const answer = await ask(this.#target, messageOf(question))
      if (answer.kind === 'page') {
        counts.rows += answer.rows.length
        return answer
      }
      const mayRefuse = before.mayRefuse || this.#tolerance.mayRefuse
      const mayBeAway = before.mayBeAway || this.#tolerance.mayBeAway
      if (answer.kind !== 'refused' && mayBeAway && tries < awaysMax) {
        counts.away++
        await sleep(awayRestMs)
      } else if (answer.kind === 'refused' && answer.status === 503 && mayRefuse) {
        counts.unavailable++
        return null
      } else if (answer.kind === 'refused' && isGone(answer, question) && mayRefuse) {
        counts.gone++
        return 'gone'
      } else throw new Fault(`${JSON.stringify(answer)} to ${questionText(question)}`)
    }
  }

  expect({ table }: Question) {
    const expected = table === otherTable ? this.fixture.other : this.fixture.things
    const { floor } = expected
    return (version: string, evidence: Evidence) => expected.note(version, evidence, floor)
  }

  /** Looks up an id, reads a page with filters, or walks from start to end, by chance. */
  async visit(random: Random): Promise<void> {
    const { years, rows } = this.fixture.table
    const door = random.oneOf(doors)
    const kind = random.oneOf(['look-up', 'look-up', 'page', 'page', 'walk', 'other'] as const)
    if (kind === 'other') {
      const from = random.whole(0, otherTable.rows - 10)
      const selection = { years: otherTable.years, from, to: from + 10 }
      await this.walk({ door, table: otherTable, selection, limit: 10, cursor: null })
    } else if (kind === 'look-up') {
      const from = random.whole(0, rows - 1)
      await this.walk(this.question(door, { years, from, to: from + 1 }, 2 * years.length))
    } else if (kind === 'page') {
      const first = random.whole(0, years.length - 1)
      const chosen = years.slice(first, random.whole(first + 1, years.length))
      const span = random.whole(2, Math.min(100, rows))
      const from = random.whole(0, rows - span)
      const selection = { years: chosen, from, to: from + span }
      await readPage(this, this.question(door, selection, random.whole(1, 100)))
    } else {
      const few = random.whole(mcpRowsMin, 2 * mcpRowsMin) / years.length
      const to = door === 'mcp' ? Math.ceil(few) : rows
      const limit = door === 'mcp' ? mcpLimit : random.oneOf([400, 700, 1000])
      await this.walk(this.question(door, { years, from: 0, to }, limit))
    }
  }

  /** A question to `things`, without a cursor. */
  question(door: Door, selection: Selection, limit: number): Question {
    return { door, table: this.fixture.table, selection, limit, cursor: null }
  }

  async walk(question: Question): Promise<Evidence | null> {
    const evidence = await walkThrough(this, question)
    if (evidence) this.counts.walks++
    return evidence
  }

  /** The text of an address; empty while the server is away. */
  async text(path: string): Promise<string> {
    const { base, token } = this.#target
    const reply = await getOnce(base, path, token)
    const isRefused = reply && reply.status !== 200 && path !== '/readyz'
    if (isRefused) throw new Fault(`${reply.status} to ${path}`)
    return reply?.text ?? ''
  }

  /** Waits until answers come from the files of now; returns how long that took, in milliseconds. */
  untilServed(withinMs = servedMsMax): Promise<number> {
    const { things, table } = this.fixture
    const selection = { years: table.years, from: 7, to: 8 }
    const question = this.question('get', selection, 2 * table.years.length)
    return until('the newest files are served', withinMs, async () => {
      const evidence = await this.walk(question)
      return evidence !== null && things.isNewest(evidence)
    })
  }

  /** Waits until `/readyz` reports this result of the last reload. */
  untilReload(state: 'ok' | 'refused', withinMs = servedMsMax): Promise<number> {
    return until(`/readyz says reload: ${state}`, withinMs, () => this.saysReload(state))
  }

  async saysReload(state: 'ok' | 'refused'): Promise<boolean> {
    return (await this.text('/readyz')).includes(`"reload":"${state}"`)
  }
}

function isGone(answer: { readonly status: number; readonly words: string }, { cursor }: Question) {
  return cursor !== null && answer.status === 400 && answer.words.includes('start again')
}

/**
 * Waits until a check is true; returns how long that took, in milliseconds.
 * @throws Fault naming what did not happen in time
 */
export async function until(
  what: string,
  withinMs: number,
  check: () => Promise<boolean>,
): Promise<number> {
  const startedMs = performance.now()
  await eventually(what, { withinMs }, async () => ((await check()) ? true : undefined))
  return performance.now() - startedMs
}
