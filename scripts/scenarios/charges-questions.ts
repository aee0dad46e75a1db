import { aggregateMessage, pageMessage, topMessage } from '../harness/doors.js'
import type { Filter } from '../harness/doors.js'
import type { Message } from '../harness/http.js'
import type { Random } from '../harness/random.js'
import type { Answer } from './parts/ask.js'
import type { Cost } from './parts/ledger.js'
import { checkFirst, rowsOf } from './parts/rows.js'
import type { Table } from './parts/rows.js'

/** One request, and what its answer costs. */
export interface ChargedQuestion {
  /** For an error. */
  readonly name: string
  readonly message: Message
  readonly cost: Cost
  /** @throws Fault where a row is wrong */
  readonly check: (answer: Answer) => void
}

const limitMax = 400
const kinds = ['rows', 'rows', 'aggregate', 'top'] as const
const doors = ['get', 'get', 'post', 'mcp'] as const
const topDoors = ['get', 'mcp'] as const
/** One of four questions for rows over MCP matches none: the explanation costs one row. */
const contradictionShare = 4
const columns = 5
/** By id, every row is a group; with five measures it has more cells than a row. */
const measuresOf = [['count'], ['count', 'sum(id)', 'min(id)', 'max(id)', 'avg(id)']] as const

/** Draws the next question of a client. */
export function drawQuestion(random: Random, table: Table): ChargedQuestion {
  const kind = random.oneOf(kinds)
  const limit = random.whole(1, limitMax)
  // Near the end, answers are short, and beyond it empty.
  const from = random.whole(0, table.rows + limitMax)
  const filters: Filter[] = [{ column: 'id', op: 'gte', value: from }]
  const asked = { dataset: table.name, limit, filters }
  const unchecked = () => undefined
  if (kind === 'aggregate') {
    const door = random.oneOf(doors)
    const measures = random.oneOf(measuresOf)
    const groups = Math.min(limit, Math.max(table.rows - from, 0))
    const rows = groups * Math.ceil((1 + measures.length) / columns)
    const message = aggregateMessage(door, { ...asked, group: ['id'], measures })
    return { name: kind, message, cost: { kind: 'whole', groups, rows }, check: unchecked }
  }
  if (kind === 'top') {
    const message = topMessage(random.oneOf(topDoors), { ...asked, by: '-id' })
    return { name: kind, message, cost: { kind: 'each', most: limit }, check: unchecked }
  }
  return drawRows(random, table, asked, from)
}

function drawRows(
  random: Random,
  table: Table,
  asked: { readonly dataset: string; readonly limit: number; readonly filters: readonly Filter[] },
  from: number,
): ChargedQuestion {
  const door = random.oneOf(doors)
  const isContradiction = door === 'mcp' && random.whole(1, contradictionShare) === 1
  const limit = isContradiction ? 1 : asked.limit
  const none: Filter[] = isContradiction ? [{ column: 'id', op: 'lt', value: 0 }] : []
  const check = (answer: Answer) => {
    const selection = { years: table.years, from, to: table.rows }
    if (answer.kind === 'page') checkFirst(rowsOf(answer.rows), table, selection)
  }
  return {
    name: `rows by ${door}`,
    message: pageMessage(door, { ...asked, limit, filters: [...asked.filters, ...none] }),
    cost: { kind: 'each', most: limit },
    check,
  }
}
