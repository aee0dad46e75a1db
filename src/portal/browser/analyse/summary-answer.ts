import type { Arrival } from '../ask-page.js'
import { charts } from '../chart/charts.js'
import { namesBy } from '../chart/names.js'
import { labels, words } from '../page-words.js'
import { askInto, emptyText } from '../question/answer-frame.js'
import type { AnswerFrame } from '../question/answer-frame.js'
import { readExactRows } from '../question/exact-rows.js'
import type { Row } from '../question/exact-rows.js'
import { namedText } from '../question/page-column.js'
import type { PageColumn } from '../question/page-column.js'
import { pageTable } from '../question/page-table.js'
import type { PageFacts, ViewChanges } from '../question/panel.js'
import { pathOfExport } from '../question/rows-question.js'
import { isPivot, writeSummaryQuestion } from '../question/summary-question.js'
import type { SummaryQuestion } from '../question/summary-question.js'
import { filesOf, takeAway } from '../question/take-away.js'
import { groupActs } from './group-acts.js'
import type { GroupActs } from './group-acts.js'
import { summaryColumns } from './summary-columns.js'
import type { SummaryColumns } from './summary-columns.js'

interface Facts {
  readonly groups: number
  readonly rows: number | null
  readonly truncated: boolean
}

interface Shown {
  readonly columns: SummaryColumns
  readonly isPivot: boolean
  readonly files: HTMLElement
  readonly acts: GroupActs
}

/** Asks for groups and shows them, as a chart and a table. Resolves when the answer is there. */
export async function askSummary(
  facts: PageFacts,
  frame: AnswerFrame,
  question: SummaryQuestion,
  opened: ViewChanges['opened'],
): Promise<void> {
  const path = `/v1/${facts.dataset}/aggregate?${writeSummaryQuestion(question, labels)}`
  await askInto(frame, { path, token: facts.token }, (answer) => {
    const rowsPath = pathOfExport(facts.dataset, { filters: question.filters, select: [] })
    const files = takeAway(filesOf(path, rowsPath), facts.token)
    const columns = summaryColumns(facts, question, words)
    const acts = groupActs(facts, question, columns, opened)
    show(frame, answer, { columns, isPivot: isPivot(question), files, acts })
  })
}

function show(
  { arrive, body, node }: AnswerFrame,
  answer: Arrival,
  { columns, isPivot, files, acts }: Shown,
): void {
  // The server validates this answer against its schema; another one throws.
  const { groups: found, rows: met, truncated } = JSON.parse(answer.text) as Facts
  const rows = readExactRows(answer.text).map((row) => namedRest(row, columns))
  if (rows.length === 0) {
    arrive(answer, emptyText(answer.scope))
    body.replaceChildren()
    return
  }
  const count = rows.filter((row) => !isRest(row)).length
  const shown = truncated ? words.firstGroups(count, found) : words.groupsShown(count)
  arrive(answer, met === null ? shown : `${shown} · ${words.rowsMet(met)}`)
  const groups = columns.groups.map((group) => namedGroup(group, rows))
  const measures = isPivot ? pivotColumns(rows, columns) : columns.measures
  const all = [...groups, ...measures]
  const drawn = {
    ...{ rows, columns: all, time: columns.time, width: node.clientWidth, isPartial: truncated },
    order: acts.order,
    nameOf: groupNames(rows, { ...columns, groups }),
    pick: acts.ofRow,
  }
  body.replaceChildren(...charts(drawn), pageTable({ columns: all, rows, acts }), files)
}

/** What a group is called: its values with their names, without the time. */
function groupNames(rows: readonly Row[], { groups, time }: SummaryColumns): (row: Row) => string {
  const others = groups.filter(({ name }) => name !== time)
  const [entity, column, ...more] = others
  const named = entity && column && more.length === 0 && namesBy({ rows, time }, entity, column)
  if (named) return named
  return (row) => others.map((group) => nameIn(row, group)).join(' · ')
}

function nameIn(row: Row, group: PageColumn): string {
  const value = row.get(group.name)
  return !value || value.kind === 'empty' ? words.empty : namedText(group, value.text)
}

/** A group with what its codes mean, which the answer has beside them. */
function namedGroup(group: PageColumn, rows: readonly Row[]): PageColumn {
  const textOf = (row: Row, name: string) => row.get(name)?.text ?? ''
  const pairs = rows.map(
    (row) => [textOf(row, group.name), textOf(row, `${group.name}:label`)] as const,
  )
  return { ...group, names: new Map(pairs.filter(([, name]) => name !== '')) }
}

/** The columns of a pivot: the values of its group, each with the measure. */
function pivotColumns(
  [row = new Map()]: readonly Row[],
  { groups, measures }: SummaryColumns,
): readonly PageColumn[] {
  const known = groups.flatMap(({ name }) => [name, `${name}:label`])
  const names = [...row.keys()].filter((name) => !known.includes(name) && name !== restName)
  return measures.flatMap((measure) =>
    names.map((name) => ({ ...measure, name, label: `${measure.label || measure.name}, ${name}` })),
  )
}

const restName = 'rest'

function isRest(row: Row): boolean {
  const { kind, text } = row.get(restName) ?? {}
  return kind === 'boolean' && text === 'true'
}

/** The row of all other groups has no group, but a mark. */
function namedRest(row: Row, { groups }: SummaryColumns): Row {
  const other = { kind: 'json', text: words.otherGroups } as const
  return isRest(row) ? new Map([...row, ...groups.map(({ name }) => [name, other] as const)]) : row
}
