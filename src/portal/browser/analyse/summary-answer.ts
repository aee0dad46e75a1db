import type { Arrival } from '../ask-page.js'
import { charts } from '../chart/charts.js'
import { namesBy } from '../chart/names.js'
import { labels, words } from '../page-words.js'
import { askInto, emptyText } from '../question/answer-frame.js'
import type { AnswerFrame } from '../question/answer-frame.js'
import { readExactRows } from '../question/exact-rows.js'
import type { Row } from '../question/exact-rows.js'
import type { PageColumn } from '../question/page-column.js'
import { pageTable } from '../question/page-table.js'
import type { PageFacts, ViewChanges } from '../question/panel.js'
import { pathOfExport } from '../question/rows-question.js'
import { writeSummaryQuestion } from '../question/summary-question.js'
import type { SummaryQuestion } from '../question/summary-question.js'
import { filesOf, takeAway } from '../question/take-away.js'
import { groupActs } from './group-acts.js'
import type { GroupActs } from './group-acts.js'
import { labelColumn, summaryColumns } from './summary-columns.js'
import type { SummaryColumns } from './summary-columns.js'

interface Facts {
  readonly groups: number
  readonly rows: number | null
  readonly truncated: boolean
}

interface Shown {
  readonly columns: SummaryColumns
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
    show(frame, answer, { columns, files, acts: groupActs(facts, question, columns, opened) })
  })
}

function show(
  { arrive, body, node }: AnswerFrame,
  answer: Arrival,
  { columns, files, acts }: Shown,
): void {
  // The server validates this answer against its schema; another one throws.
  const { groups: found, rows: met, truncated } = JSON.parse(answer.text) as Facts
  const rows = readExactRows(answer.text)
  if (rows.length === 0) {
    arrive(answer, emptyText(answer.scope))
    body.replaceChildren()
    return
  }
  const shown = truncated ? words.firstGroups(rows.length, found) : words.groupsShown(rows.length)
  arrive(answer, met === null ? shown : `${shown} · ${words.rowsMet(met)}`)
  const named = columns.groups
    .map((group) => labelColumn(group, words.labels))
    .filter(({ name }) => rows[0]?.has(name))
  const all = [
    ...columns.groups.flatMap((group) => [
      group,
      ...named.filter(({ name }) => name === labelColumn(group, words.labels).name),
    ]),
    ...columns.measures,
  ]
  const drawn = {
    ...{ rows, columns: all, time: columns.time, width: node.clientWidth, isPartial: truncated },
    order: acts.order,
    nameOf: groupNames(rows, columns),
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
  if (!value || value.kind === 'empty') return words.empty
  const label = row.get(labelColumn(group, words.labels).name)?.text ?? ''
  return label === '' ? value.text : `${value.text} ${label}`
}
