import { setTimeout as sleep } from 'node:timers/promises'
import { doors } from '../../harness/doors.js'
import type { Door } from '../../harness/doors.js'
import { Fault } from '../../harness/fault.js'
import { send, SocketError } from '../../harness/http.js'
import type { Reply, Target } from '../../harness/http.js'
import type { Random } from '../../harness/random.js'
import { eventually } from '../../harness/wait.js'
import { ask } from '../parts/ask.js'
import type { Page } from '../parts/ask.js'
import type { Selection } from '../parts/rows.js'
import { messageOf, questionText, readPage, walkThrough } from '../parts/walks.js'
import type { Question, Reader } from '../parts/walks.js'
import { otherTable } from './reload-fixture.js'
import type { ReloadFixture } from './reload-fixture.js'

/** What a phase allows besides right rows. */
export interface Tolerance {
  /** 503, and the end of a walk whose version is gone. */
  mayRefuse: boolean
  /** The server may be away: the same question is asked again. */
  mayBeAway: boolean
}

export interface Counts {
  requests: number
  walks: number
  rows: number
  /** 503 */
  unavailable: number
  /** Walks that had to start again. */
  gone: number
  /** Questions asked again because the server was away. */
  away: number
}

/** What the clients of a phase ask, and what they may receive. */
export interface Client extends Reader {
  readonly fixture: ReloadFixture
  readonly target: Target
  readonly counts: Counts
}

const awayRestMs = 50
const awaysMax = 1200
const mcpLimit = 200
const mcpRowsMin = 1000
/** Far above what the server needs, for a machine that has other work. */
export const servedMsMax = 120_000

/** Clients of a phase; all that they ask is judged by what was on the disk. */
export function openClient(
  fixture: ReloadFixture,
  target: Target,
  tolerance: Tolerance,
  counts: Counts,
): Client {
  return {
    ...{ fixture, target, counts },
    ask: (question) => askOnce(question, target, tolerance, counts),
    expect: ({ table }) => {
      const expected = table === otherTable ? fixture.other : fixture.things
      const { floor } = expected
      return (version, evidence) => expected.note(version, evidence, floor)
    },
  }
}

/** @throws Fault when the question can't have this answer */
async function askOnce(
  question: Question,
  target: Target,
  tolerance: Tolerance,
  counts: Counts,
): Promise<Page | 'gone' | null> {
  for (let tries = 1; ; tries++) {
    const before = { ...tolerance }
    counts.requests++
    const answer = await ask(target, messageOf(question))
    if (answer.kind === 'page') {
      counts.rows += answer.rows.length
      return answer
    }
    const mayRefuse = before.mayRefuse || tolerance.mayRefuse
    const mayBeAway = before.mayBeAway || tolerance.mayBeAway
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

function isGone(answer: { readonly status: number; readonly words: string }, { cursor }: Question) {
  return cursor !== null && answer.status === 400 && answer.words.includes('start again')
}

/** Looks up an id, reads a page with filters, or walks from start to end, by chance. */
export async function visit(client: Client, random: Random): Promise<void> {
  const { years, rows } = client.fixture.table
  const door = random.oneOf(doors)
  const kind = random.oneOf(['look-up', 'look-up', 'page', 'page', 'walk', 'other'] as const)
  if (kind === 'other') {
    const from = random.whole(0, otherTable.rows - 10)
    const selection = { years: otherTable.years, from, to: from + 10 }
    await walk(client, { door, table: otherTable, selection, limit: 10, cursor: null })
  } else if (kind === 'look-up') {
    const from = random.whole(0, rows - 1)
    await walk(client, questionOf(client, door, { years, from, to: from + 1 }, 2 * years.length))
  } else if (kind === 'page') {
    await readPage(client, pageOf(client, door, random))
  } else {
    const few = random.whole(mcpRowsMin, 2 * mcpRowsMin) / years.length
    const to = door === 'mcp' ? Math.ceil(few) : rows
    const limit = door === 'mcp' ? mcpLimit : random.oneOf([400, 700, 1000])
    await walk(client, questionOf(client, door, { years, from: 0, to }, limit))
  }
}

/** A question to `things`, without a cursor. */
export function questionOf(
  { fixture }: Pick<Client, 'fixture'>,
  door: Door,
  selection: Selection,
  limit: number,
): Question {
  return { door, table: fixture.table, selection, limit, cursor: null }
}

function pageOf(client: Client, door: Door, random: Random): Question {
  const { years, rows } = client.fixture.table
  const first = random.whole(0, years.length - 1)
  const chosen = years.slice(first, random.whole(first + 1, years.length))
  const span = random.whole(2, Math.min(100, rows))
  const from = random.whole(0, rows - span)
  const selection = { years: chosen, from, to: from + span }
  return questionOf(client, door, selection, random.whole(1, 100))
}

async function walk(client: Client, question: Question) {
  const evidence = await walkThrough(client, question)
  if (evidence) client.counts.walks++
  return evidence
}

/** A GET; null when the server is away. */
export async function get(target: Target, path: string): Promise<Reply | null> {
  const reply = await send(target, { method: 'GET', path, body: '' }).catch((cause: unknown) => {
    if (cause instanceof SocketError) return null
    throw cause
  })
  return reply?.isComplete ? reply : null
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

/** Waits until answers come from the files of now; returns how long that took, in milliseconds. */
export function untilServed(client: Client, withinMs = servedMsMax): Promise<number> {
  const { things, table } = client.fixture
  const selection = { years: table.years, from: 7, to: 8 }
  const question = questionOf(client, 'get', selection, 2 * table.years.length)
  return until('the newest files are served', withinMs, async () => {
    const evidence = await walk(client, question)
    return evidence !== null && things.isNewest(evidence)
  })
}

/** Waits until `/readyz` reports this result of the last reload. */
export function untilReload(
  client: Client,
  state: 'ok' | 'refused',
  withinMs = servedMsMax,
): Promise<number> {
  return until(`/readyz says reload: ${state}`, withinMs, () => saysReload(client, state))
}

/** Whether `/readyz` reports this result of the last reload. */
export async function saysReload({ target }: Client, state: 'ok' | 'refused'): Promise<boolean> {
  const reply = await get(target, '/readyz')
  return reply?.text.includes(`"reload":"${state}"`) ?? false
}
