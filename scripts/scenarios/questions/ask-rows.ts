import { isOrdered } from '../../../src/columns/functions.js'
import { order } from '../../../test/columns/fixtures/predicate-model.js'
import { doors, messageOf } from '../../harness/doors.js'
import type { Door, Words } from '../../harness/doors.js'
import { demand, Fault } from '../../harness/fault.js'
import type { Reply } from '../../harness/http.js'
import type { Random } from '../../harness/random.js'
import { askWell, checkCharge, differ, readTool, restFormats, restMessage } from './ask.js'
import type { Asking, RestFormat } from './ask.js'
import { drawFilters } from './draw-filter.js'
import type { DrawnFilter } from './draw-filter.js'
import { limitMax } from './fixture.js'
import { cellValue, csvRows, jsonRows, ndjsonRows, toolColumns } from './table.js'
import type { ExpectedRows, ModelColumn, Table } from './table.js'

/** A page of rows as it came. */
interface Page {
  readonly count: number
  readonly next: string | null
  /** Null of a tool. */
  readonly reply: Reply | null
}

const pageCounts = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 5] as const
const rowDoors = [...doors, 'get'] as const
const topDoors = ['get', 'mcp'] as const
const columnsMax = 6
/** Questions for all columns, of so many. */
const allColumnsShare = 8
/** Rows of a page with all columns. */
const wideLimitMax = 30
/** Pages asked for again by their tag, of so many. */
const knownShare = 30

/** Walks by cursor to the end; each page may have another door, format, selection and limit. */
export async function askRows(asking: Asking, table: Table): Promise<void> {
  const { random } = asking
  const filters = drawFilters(random, table)
  const rows = matching(table, filters)
  const pages = random.oneOf(pageCounts)
  const size = Math.ceil(rows.length / pages) + random.whole(0, 2)
  let [at, cursor] = [0, null as string | null]
  do {
    const columns = drawColumns(random, table)
    const limitEnd: number = columns ? limitMax : wideLimitMax
    const limit: number = Math.min(Math.max(size, 1), limitEnd)
    const words: Words = {
      dataset: table.dataset,
      tool: 'query',
      filters: filters.map(({ asked }) => asked),
      limit,
      ...(columns && { select: columns.map(({ name }) => name) }),
      ...(cursor !== null && { cursor }),
    }
    const expected = { columns: columns ?? table.columns, rows: rows.slice(at, at + limit) }
    const page: Page = await askPage(asking, random.oneOf(rowDoors), words, expected)
    at += page.count
    if ((page.next !== null) !== at < rows.length) {
      throw new Fault(`next_cursor is ${page.next} after ${at} of ${rows.length} rows`)
    }
    cursor = page.next
  } while (cursor !== null)
}

/** The first rows by a column; ties in stored order. */
export async function askTop(asking: Asking, table: Table): Promise<void> {
  const { random } = asking
  const filters = drawFilters(random, table)
  const by = random.oneOf(
    table.columns.filter(({ column, name }) => isOrdered(column) && /^\w+$/.test(name)),
  )
  const isDescending = random.oneOf([true, false])
  const sorted = matching(table, filters).filter((row) => cellValue(by, row) !== null)
  sorted.sort((left, right) => {
    const found = order(cellValue(by, left) ?? 0, cellValue(by, right) ?? 0)
    return (isDescending ? -found : found) || left - right
  })
  const columns = drawColumns(random, table) ?? table.columns.slice(0, columnsMax)
  const limit = random.oneOf([1, 5, 20, limitMax])
  const words: Words = {
    dataset: table.dataset,
    tool: 'top',
    filters: filters.map(({ asked }) => asked),
    select: columns.map(({ name }) => name),
    limit,
    more: { by: `${isDescending ? '-' : ''}${by.name}` },
  }
  const expected = { columns, rows: sorted.slice(0, limit) }
  const { reply } = await askPage(asking, random.oneOf(topDoors), words, expected)
  if (reply === null) return
  const isTruncated = reply.headers['x-truncated'] === 'true'
  demand(isTruncated === sorted.length > limit, `X-Truncated is ${isTruncated}`)
}

/** The numbers of the rows that meet all filters. */
function matching({ rows }: Table, filters: readonly DrawnFilter[]): number[] {
  const found: number[] = []
  for (let row = 0; row < rows; row++) {
    if (filters.every(({ keeps }) => keeps(row))) found.push(row)
  }
  return found
}

/** Some columns in any order; null = no selection. */
function drawColumns(random: Random, { columns }: Table): readonly ModelColumn[] | null {
  if (random.whole(1, allColumnsShare) === 1) return null
  const count = random.whole(1, columnsMax)
  return [...new Set(Array.from({ length: count }, () => random.oneOf(columns)))]
}

async function askPage(
  asking: Asking,
  door: Door,
  words: Words,
  expected: ExpectedRows,
): Promise<Page> {
  const { random } = asking
  if (door === 'mcp') return askTool(asking, words, expected)
  const format = random.oneOf(restFormats)
  const message = restMessage(random, door, words, format)
  const reply = await askWell(asking, message)
  const next = readRest(reply, format, expected)
  checkCharge(asking, reply, expected.rows.length)
  const tag = reply.headers.etag
  if (door === 'get' && tag !== undefined && random.whole(1, knownShare) === 1) {
    const headers = { ...message.headers, 'if-none-match': tag }
    await requireUnchanged(asking, { ...message, headers })
  }
  return { count: expected.rows.length, next, reply }
}

async function requireUnchanged(asking: Asking, message: Parameters<typeof askWell>[1]) {
  let status = 0
  const note = (reply: Reply) => {
    status = reply.status
    asking.note(reply)
  }
  await askWell({ ...asking, note }, message).catch((cause: unknown) => {
    if (status !== 304) throw cause
  })
  demand(status === 304, `${status} instead of 304`)
}

/** Compares an answer with the expected rows; returns its cursor. */
function readRest(
  { text, headers }: Reply,
  format: RestFormat,
  expected: ExpectedRows,
): string | null {
  const next = headers['x-next-cursor']?.toString() ?? null
  switch (format) {
    case 'json': {
      const cursor = /"next_cursor":(null|"[\w-]+")\}$/.exec(text)?.[1] ?? '?'
      differ('the answer', text, `{"data":[${jsonRows(expected)}],"next_cursor":${cursor}}`)
      return JSON.parse(cursor) as string | null
    }
    case 'ndjson':
      differ('the answer', text, ndjsonRows(expected))
      return next
    case 'csv':
      differ('the answer', text, csvRows(expected))
      return next
  }
}

/** Asks a tool, whose answer may hold fewer rows where they are long. */
async function askTool(asking: Asking, words: Words, expected: ExpectedRows): Promise<Page> {
  const answer = readTool(await askWell(asking, messageOf('mcp', words)))
  const { row_count: count = 0, next_cursor: next = null, truncated, explained, lists } = answer
  asking.pay(count + (explained ? 1 : 0))
  const { columns, rows } = expected
  const isCut = count < rows.length
  if (isCut !== truncated || (isCut && count === 0)) {
    throw new Fault(`${count} of ${rows.length} rows`)
  }
  const cells = toolColumns({ columns, rows: rows.slice(0, count) })
  for (const [at, { name }] of columns.entries()) {
    differ(name, lists.get(name) ?? '', `[${cells[at]?.join() ?? ''}]`)
  }
  return { count, next, reply: null }
}
