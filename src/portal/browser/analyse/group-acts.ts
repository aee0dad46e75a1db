import { parseCalls } from '../../../columns/call-text.js'
import type { Cell, Row } from '../question/exact-rows.js'
import type { Filter } from '../question/filters.js'
import type { PageFacts, ViewChanges } from '../question/panel.js'
import type { SummaryQuestion } from '../question/summary-question.js'
import { filterOf, nextOrder, withFilter } from '../question/table-acts.js'
import type { TableActs } from '../question/table-acts.js'
import { firstPlace } from '../question/view.js'
import { orderKey } from './order-choice.js'
import type { SummaryColumns } from './summary-columns.js'

/** What clicks in an answer of groups do. */
export interface GroupActs extends TableActs {
  /** Opens the rows of a group; undefined for a group that filters can't say. */
  readonly ofRow: (row: Row) => (() => void) | undefined
}

/** A heading sorts the groups; a value, or a bar, opens the rows that it stands for. */
export function groupActs(
  facts: PageFacts,
  question: SummaryQuestion,
  { groups, measures }: SummaryColumns,
  opened: ViewChanges['opened'],
): GroupActs {
  const texts = [...question.group, ...question.measures].map(orderKey)
  const keys = new Map([...groups, ...measures].map(({ name }, at) => [name, texts[at] ?? '']))
  const isDescending = question.order.startsWith('-')
  const key = isDescending ? question.order.slice(1) : question.order
  const [sorted] = [...keys].find(([, text]) => text === key) ?? []
  const order = sorted === undefined ? null : { column: sorted, isDescending }
  const groupTexts = new Map(groups.map(({ name }, at) => [name, question.group[at] ?? '']))
  const open = (added: readonly Filter[]) => () => {
    const filters = added.reduce(withFilter, question.filters)
    const asked = { filters, select: [], limit: facts.limit, order: null }
    opened({ tab: 'rows', question: asked, place: firstPlace })
  }
  return {
    order,
    sort: (column) => {
      if (!keys.has(column.name)) return undefined
      const next = nextOrder(column, order)
      const text = next === null ? '' : `${next.isDescending ? '-' : ''}${keys.get(next.column)}`
      return () => opened({ tab: 'analyse', question: { ...question, order: text } })
    },
    filter: ({ name }, cell) => {
      const text = groupTexts.get(name)
      const filter = text === undefined ? undefined : groupFilter(facts, text, cell)
      return filter && open([filter])
    },
    ofRow: (row) => {
      const filters = [...groupTexts].map(([name, text]) => {
        const cell = row.get(name)
        return cell && groupFilter(facts, text, cell)
      })
      return filters.every((each) => each !== undefined) ? open(filters) : undefined
    },
  }
}

/** The filter for the rows of a group by a column, or by the first characters of one. */
function groupFilter({ columns }: PageFacts, text: string, cell: Cell): Filter | undefined {
  const level = columns.flatMap(({ levels }) => levels[text] ?? [])[0]
  const [call] = parseCalls(level ?? text, 'group')
  const name = call?.operands ? call.operands[0]?.[0]?.name : call?.name
  const column = columns.find((each) => each.name === name)
  if (!call || !column || call.alias !== null) return undefined
  if (call.operands === null || cell.kind === 'empty') return filterOf(column, cell)
  if (call.name !== 'prefix' || !column.operators.includes('like')) return undefined
  return { column: column.name, operator: 'like', values: [`${cell.text}*`] }
}
