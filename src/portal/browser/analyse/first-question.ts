import { callName } from '../../../columns/call-text.js'
import type { PageFacts } from '../question/panel.js'
import type { SummaryQuestion } from '../question/summary-question.js'

/** A question that suits every dataset: rows by time, with a measure that the dataset defines. */
export function firstSummary({
  columns,
  measures,
  history,
}: Pick<PageFacts, 'columns' | 'measures' | 'history'>): SummaryQuestion {
  const [measure] = measures.map(({ name }) => callName(name))
  return {
    filters: [],
    group: timeGroup(columns, history) ?? codeGroup(columns) ?? [],
    measures: measure === undefined ? ['count'] : [measure, 'count'],
    ...{ order: '', others: [] },
    limit: null,
  }
}

type Columns = PageFacts['columns']

function timeGroup(columns: Columns, history: string): readonly string[] | undefined {
  const column = columns.find(({ name }) => name === history)
  if (!column) return undefined
  const name = callName(column.name)
  return [column.groups.includes('month(column)') ? `month(${name})` : name]
}

function codeGroup(columns: Columns): readonly string[] | undefined {
  const [group] = columns.flatMap(({ levels }) => Object.values(levels)[0] ?? [])
  return group === undefined ? undefined : [group]
}
