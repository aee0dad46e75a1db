import type { Row } from '../question/exact-rows.js'
import type { Filter } from '../question/filters.js'
import type { PageFacts, ViewChanges } from '../question/panel.js'
import { isPivot } from '../question/summary-question.js'
import type { SummaryQuestion } from '../question/summary-question.js'
import { nextOrder } from '../question/table-acts.js'
import type { TableActs } from '../question/table-acts.js'
import { firstPlace } from '../question/view.js'
import { groupFilter } from './group-filter.js'
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
    const asked = {
      filters: [...question.filters, ...added],
      select: [],
      limit: facts.limit,
      order: null,
    }
    opened({ tab: 'rows', question: asked, place: firstPlace })
  }
  return {
    order,
    sort: (column) => {
      if (isPivot(question) || !keys.has(column.name)) return undefined
      const next = nextOrder(column, order)
      const text = next === null ? '' : `${next.isDescending ? '-' : ''}${keys.get(next.column)}`
      return () => opened({ tab: 'analyse', question: { ...question, order: text } })
    },
    filter: ({ name }, cell) => {
      const text = groupTexts.get(name)
      const filter = text === undefined ? undefined : groupFilter(facts.columns, text, cell)
      return filter && open([filter])
    },
    ofRow: (row) => {
      const filters = [...groupTexts].map(([name, text]) => {
        const cell = row.get(name)
        return cell && groupFilter(facts.columns, text, cell)
      })
      return filters.every((each) => each !== undefined) ? open(filters) : undefined
    },
  }
}
