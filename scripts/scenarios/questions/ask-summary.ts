import fc from 'fast-check'
import { summaryParts } from '../../../test/engine/fixtures/summaries.js'
import type { AskedSummary } from '../../../test/engine/fixtures/summaries.js'
import type { ServedRow } from '../../../test/engine/fixtures/summary-model.js'
import {
  askedSummary,
  checkSummary,
  summaryQuestion,
} from '../../../test/engine/fixtures/summary-questions.js'
import { restRows, sameCell } from '../../../test/support/query-results.js'
import { doors, messageOf } from '../../harness/doors.js'
import type { Words } from '../../harness/doors.js'
import { demand } from '../../harness/fault.js'
import type { Reply } from '../../harness/http.js'
import { askWell, checkCharge, readTool, restMessage } from './ask.js'
import type { Asking } from './ask.js'
import { drawFilters } from './draw-filter.js'
import type { DrawnFilter } from './draw-filter.js'
import { cellText } from './table.js'
import type { ModelColumn, Table } from './table.js'

/** A table, and its rows as the model of aggregates reads them. */
export interface SummedTable {
  readonly table: Table
  readonly rows: readonly ServedRow[]
}

/** Groups in a tool's answer, few enough that all of them fit. */
const toolLimit = 20
const distinctMax = 2
/** A row of an aggregate, whose cells are numbers and texts. */
const flatRow = /\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\}/g

/** Reads the rows once, not for each question. */
export function summedTable(table: Table): SummedTable {
  const rows = Array.from(
    { length: table.rows },
    (_, row): ServedRow =>
      new Map(table.columns.map((column) => [column.name, cellText(column, row)])),
  )
  return { table, rows }
}

/** An aggregate by URL or body, now and then also by the tool, which must answer the same. */
export async function askSummary(asking: Asking, { table, rows: all }: SummedTable): Promise<void> {
  const { random } = asking
  const [drawn] = fc.sample(summaryQuestion, { numRuns: 1, seed: random.whole(0, 2 ** 31 - 1) })
  if (!drawn) throw new Error('no question')
  const asked = askedSummary({
    ...drawn,
    // The datasets have no levels.
    group: drawn.group.filter((name) => !name.includes(':')),
    measures: allowed(drawn.measures),
  })
  const filters = drawFilters(random, table)
  const words = wordsOf(table.dataset, asked, filters)
  const door = random.oneOf([...doors, 'get'] as const)
  const told = door === 'mcp' ? { ...words, limit: Math.min(words.limit, toolLimit) } : words
  const format = random.oneOf(['json', 'ndjson'] as const)
  const message = restMessage(random, door === 'post' ? door : 'get', told, format)
  const reply = await askWell(asking, message)
  const rows = (reply.text.split('],"groups":')[0] ?? '').match(flatRow) ?? []
  const parts = summaryParts({ column: (name) => columnOf(table, name).column }, asked)
  const kept = all.filter((_, row) => filters.every(({ keeps }) => keeps(row)))
  const { groups, rowsMet } = countsOf(reply, format)
  // Without a group, an answer does not say how many rows were met.
  const answer = { rows, groups, rowsMet: rows.length === 0 ? kept.length : rowsMet }
  checkSummary({ ...asked, limit: told.limit }, parts, kept, answer)
  const answered = Math.max(rows.length, parts.groups.length === 0 ? 1 : 0)
  const cells = parts.groups.length + asked.measures.reduce((sum, name) => sum + cellsOf(name), 0)
  const cost = answered * Math.ceil(cells / table.columns.length)
  checkCharge(asking, reply, cost)
  if (door === 'mcp') {
    const data = `{"data":[${rows.join()}]}`
    await compareTool(asking, told, restRows(data, [...(asked.group ?? []), ...asked.measures]))
    asking.pay(cost)
  }
}

/** How many cells of a row a measure reads: one for each column that its formula names. */
function cellsOf(measure: string): number {
  return measure.split(/[+/-]/).length
}

/** At most so many different values are counted in one question. */
function allowed(measures: readonly string[]): string[] {
  const dear = measures.filter((name) => name.startsWith('distinct(')).slice(distinctMax)
  return measures.filter((name) => !dear.includes(name))
}

function wordsOf(
  dataset: string,
  { group = [], measures, having = [], order = [], limit = 100 }: AskedSummary,
  filters: readonly DrawnFilter[],
): Words {
  const lists = { group, measures, having, order }
  const more = Object.fromEntries(
    Object.entries(lists).flatMap(([name, list]) => (list.length === 0 ? [] : [[name, list]])),
  )
  return { dataset, tool: 'aggregate', filters: filters.map(({ asked }) => asked), limit, more }
}

/** Groups and rows, which the body says or the headers. */
function countsOf({ text, headers }: Reply, format: 'json' | 'ndjson') {
  if (format === 'ndjson') {
    return { groups: Number(headers['x-groups']), rowsMet: Number(headers['x-rows-met']) }
  }
  const [, groups, rows] = /"groups":(\d+),"rows":(\d+|null),"truncated":\w+\}$/.exec(text) ?? []
  return { groups: Number(groups), rowsMet: Number(rows) }
}

async function compareTool(
  asking: Asking,
  words: Words,
  expected: readonly (readonly unknown[])[],
): Promise<void> {
  const reply = await askWell(asking, messageOf('mcp', words))
  const { columns, data } = readTool(reply)
  const wrong = columns.findIndex((name, place) => {
    const cells = data[name] ?? []
    return (
      cells.length !== expected.length ||
      cells.some((cell, row) => !sameCell(cell, expected[row]?.[place]))
    )
  })
  demand(wrong === -1, `the tool has another ${columns[wrong]}: ${reply.text}`)
}

function columnOf({ columns }: Table, name: string): ModelColumn {
  const found = columns.find((each) => each.name === name)
  if (!found) throw new Error(`no column ${name}`)
  return found
}
