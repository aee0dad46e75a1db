import type { TestFilter } from '../../../test/support/carriers.js'
import { messageOf as doorMessage } from '../../harness/doors.js'
import type { Door } from '../../harness/doors.js'
import { Fault } from '../../harness/fault.js'
import type { Message } from '../../harness/http.js'
import type { Page } from './ask.js'
import { checkFirst, rowsOf, sizeOf } from './rows.js'
import type { Evidence, Row, Selection, Table } from './rows.js'

/** One page that is asked for. */
export interface Question {
  readonly door: Door
  readonly table: Table
  readonly selection: Selection
  readonly limit: number
  readonly cursor: string | null
}

/** How a client asks, and what it does where no page comes. */
export interface Reader {
  /** Null = refused, where that is allowed; `gone` = the cursor's version is no more. */
  readonly ask: (question: Question) => Promise<Page | 'gone' | null>
  /** Called before the first question of a walk: what it returns judges all of its rows. */
  readonly expect?: (question: Question) => (version: string, evidence: Evidence) => void
}

/** A walk that has begun: it may pause between two pages. */
export interface Walk {
  readonly question: Question
  readonly rows: Row[]
  version: string
  cursor: string | null
  /** Of all rows, once it has ended. */
  evidence: Evidence | null
  readonly judge: (version: string, evidence: Evidence) => void
}

/** Pages of MCP end earlier where their rows are long. */
const mcpLimitMax = 100

/** The request for a page. */
export function messageOf({ door, table, selection, limit, cursor }: Question): Message {
  const { years, from, to } = selection
  const ids: TestFilter[] =
    to === from + 1
      ? [['id', 'eq', from]]
      : [
          ['id', 'gte', from],
          ['id', 'lt', to],
        ]
  const isAll = years.length === table.years.length
  const filters: TestFilter[] = isAll ? ids : [['year', 'in', years], ...ids]
  return doorMessage(door, { dataset: table.name, limit, filters, cursor })
}

/** A walk before its first page. */
export function beginWalk(reader: Reader, question: Question): Walk {
  const judge = reader.expect?.(question) ?? (() => undefined)
  return { question, rows: [], version: '', cursor: null, evidence: null, judge }
}

/**
 * Reads one more page of a walk, and checks all rows at its end.
 * @throws Fault where a row is missing, repeated, out of order or wrong
 */
export async function nextPage(
  reader: Reader,
  walk: Walk,
): Promise<'more' | 'ended' | 'gone' | 'refused'> {
  const { question, rows, cursor } = walk
  const page = await reader.ask({ ...question, cursor })
  if (page === null) return 'refused'
  if (page === 'gone') return 'gone'
  if (walk.rows.length > 0 && page.version !== walk.version) {
    throw fault(walk, `a page of version ${page.version} in the walk`)
  }
  walk.version = page.version
  walk.cursor = page.cursor
  // Page by page, because a check of thousands of rows at once holds up all other clients.
  rows.push(...rowsOf(page.rows))
  requireSize(walk, page.rows.length)
  if (page.cursor !== null) return 'more'
  walk.evidence = judged(walk)
  return 'ended'
}

/** Reads all pages and checks them together; null where the walk could not end. */
export async function walkThrough(reader: Reader, question: Question): Promise<Evidence | null> {
  const walk = beginWalk(reader, question)
  let step = await nextPage(reader, walk)
  while (step === 'more') step = await nextPage(reader, walk)
  return step === 'ended' ? walk.evidence : null
}

/** Reads the first page alone, and checks it. */
export async function readPage(reader: Reader, question: Question): Promise<void> {
  const walk = beginWalk(reader, question)
  if ((await nextPage(reader, walk)) === 'more') judged(walk)
}

/** A page is full unless it is the last one, which alone has no cursor. */
function requireSize(walk: Walk, found: number): void {
  const { door, limit, selection } = walk.question
  const left = sizeOf(selection) - (walk.rows.length - found)
  const due = Math.min(limit, left)
  const isShort = door === 'mcp' && limit > mcpLimitMax && walk.cursor !== null
  if (found > due || (found < due && !isShort)) throw fault(walk, `${found} rows, not ${due}`)
  if ((walk.cursor === null) !== (found === left)) {
    throw fault(walk, 'a cursor where none is due, or none where one is')
  }
}

function judged(walk: Walk): Evidence {
  const { question, rows, version, judge } = walk
  try {
    const evidence = checkFirst(rows, question.table, question.selection)
    judge(version, evidence)
    return evidence
  } catch (cause) {
    throw cause instanceof Fault ? fault(walk, cause.message) : cause
  }
}

function fault(walk: Pick<Walk, 'question' | 'version'>, what: string): Fault {
  return new Fault(`${what} (${questionText(walk.question)}, version ${walk.version})`)
}

/** A question, for an error. */
export function questionText({ door, table, selection, limit }: Question): string {
  const { years, from, to } = selection
  return `${door} ${table.name}, years ${years.join(' ')}, ids ${from} to ${to - 1}, limit ${limit}`
}
