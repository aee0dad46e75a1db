import { setTimeout as sleep } from 'node:timers/promises'
import { doors } from '../harness/doors.js'
import { Fault } from '../harness/fault.js'
import type { Target } from '../harness/http.js'
import type { Random } from '../harness/random.js'
import { ask } from './answer.js'
import type { Answer, Question } from './answer.js'
import { otherYear, rowsOfYear as rowsOfOther } from './reload-fixture.js'
import type { ReloadFixture } from './reload-fixture.js'
import { checkFirst, checkWhole } from './rows.js'
import type { Row, Selection, Evidence } from './rows.js'

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
export interface Client {
  readonly fixture: ReloadFixture
  readonly target: Target
  readonly tolerance: Tolerance
  readonly counts: Counts
}

/** A walk that has begun: it may pause between two pages. */
export interface Walk {
  readonly question: Question
  readonly rows: readonly Row[]
  readonly version: string
  readonly floor: number
}

const awayRestMs = 50
const awaysMax = 1200
const mcpLimit = 200
const mcpRowsMin = 1000

/** Looks up an id, reads a page with filters, or walks from start to end, by chance. */
export async function visit(client: Client, random: Random): Promise<void> {
  const { fixture } = client
  const { years, rowsOfYear } = fixture
  const door = random.oneOf(doors)
  const kind = random.oneOf(['look-up', 'look-up', 'page', 'page', 'walk', 'other'] as const)
  if (kind === 'other') {
    const from = random.whole(0, rowsOfOther - 10)
    const selection = { years: [otherYear], from, to: from + 10 }
    const question = questionOf(fixture, door, selection, 10)
    await walk(client, { ...question, dataset: 'other', years: [otherYear] })
  } else if (kind === 'look-up') {
    const from = random.whole(0, rowsOfYear - 1)
    await walk(client, questionOf(fixture, door, { years, from, to: from + 1 }, 2 * years.length))
  } else if (kind === 'page') {
    await readPage(client, pageOf(fixture, door, random))
  } else {
    const few = random.whole(mcpRowsMin, 2 * mcpRowsMin) / years.length
    const to = door === 'mcp' ? Math.ceil(few) : rowsOfYear
    const limit = door === 'mcp' ? mcpLimit : random.oneOf([400, 700, 1000])
    await walk(client, questionOf(fixture, door, { years, from: 0, to }, limit))
  }
}

/** A question to `things`, without a cursor. */
export function questionOf(
  { years }: Pick<ReloadFixture, 'years'>,
  door: Question['door'],
  selection: Selection,
  limit: number,
): Question {
  return { door, dataset: 'things', selection, years, limit, cursor: null }
}

function pageOf(fixture: ReloadFixture, door: Question['door'], random: Random): Question {
  const { years, rowsOfYear } = fixture
  const first = random.whole(0, years.length - 1)
  const chosen = years.slice(first, random.whole(first + 1, years.length))
  const span = random.whole(2, Math.min(100, rowsOfYear))
  const from = random.whole(0, rowsOfYear - span)
  const to = from + span
  return questionOf(fixture, door, { years: chosen, from, to }, random.whole(1, 100))
}

async function readPage(client: Client, question: Question): Promise<void> {
  const { selection, limit } = question
  const floor = expectationOf(client, question).floor
  const answer = await askOnce(client, question, false)
  if (answer.kind !== 'page') return
  const all = selection.years.length * (selection.to - selection.from)
  const due = Math.min(limit, all)
  const { rows, version, cursor } = answer
  if (rows.length !== due) throw fault(question, version, `${rows.length} rows, not ${due}`)
  if ((cursor !== null) !== all > limit) {
    throw fault(question, version, 'a cursor where none is due, or none where one is')
  }
  judge(client, question, version, floor, () => checkFirst(rows, selection))
}

/** Reads all pages and checks them together; null where the walk could not end. */
export async function walk(client: Client, question: Question): Promise<Evidence | null> {
  let state = await beginWalk(client, question)
  while (state && state.question.cursor !== null) state = await nextPage(client, state)
  return state && endWalk(client, state)
}

/** Reads the first page; null where it is refused. */
export async function beginWalk(client: Client, question: Question): Promise<Walk | null> {
  const { floor } = expectationOf(client, question)
  const answer = await askOnce(client, question, false)
  if (answer.kind !== 'page') return null
  const { rows, version, cursor } = answer
  return { question: { ...question, cursor }, rows, version, floor }
}

/** Reads one more page; null where the walk can't continue. */
export async function nextPage(client: Client, state: Walk): Promise<Walk | null> {
  const { question, version } = state
  const answer = await askOnce(client, question, true)
  if (answer.kind === 'gone') client.counts.gone++
  if (answer.kind !== 'page') return null
  if (answer.version !== version) {
    throw fault(question, version, `a page of version ${answer.version} in the walk`)
  }
  const rows = [...state.rows, ...answer.rows]
  return { ...state, question: { ...question, cursor: answer.cursor }, rows }
}

/** Checks all rows of a walk that has ended. */
export function endWalk(client: Client, { question, rows, version, floor }: Walk): Evidence {
  const evidence = judge(client, question, version, floor, () =>
    checkWhole(rows, question.selection),
  )
  client.counts.walks++
  return evidence
}

async function askOnce(client: Client, question: Question, isWalk: boolean): Promise<Answer> {
  const { target, tolerance, counts } = client
  for (let tries = 1; ; tries++) {
    const before = { ...tolerance }
    counts.requests++
    const answer = await ask(target, question)
    if (answer.kind === 'page') {
      counts.rows += answer.rows.length
      return answer
    }
    const mayRefuse = before.mayRefuse || tolerance.mayRefuse
    if (answer.kind === 'away' && (before.mayBeAway || tolerance.mayBeAway) && tries < awaysMax) {
      counts.away++
      await sleep(awayRestMs)
    } else if (answer.kind === 'unavailable' && mayRefuse) {
      counts.unavailable++
      return answer
    } else if (answer.kind === 'gone' && mayRefuse && isWalk) {
      return answer
    } else {
      throw fault(question, '', `the answer is "${answer.kind}"`)
    }
  }
}

function judge(
  client: Client,
  question: Question,
  version: string,
  floor: number,
  check: () => Evidence,
): Evidence {
  try {
    const evidence = check()
    expectationOf(client, question).note(version, evidence, floor)
    return evidence
  } catch (cause) {
    throw cause instanceof Fault ? fault(question, version, cause.message) : cause
  }
}

function expectationOf({ fixture }: Client, { dataset }: Question) {
  return dataset === 'other' ? fixture.other : fixture.things
}

function fault({ door, dataset, selection, limit }: Question, version: string, what: string) {
  const { years: of, from, to } = selection
  const asked = `${door} ${dataset}, years ${of.join(' ')}, ids ${from} to ${to - 1}, limit ${limit}`
  return new Fault(`${what} (${asked}${version && `, version ${version}`})`)
}
