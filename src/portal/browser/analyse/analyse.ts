import { ask } from '../ask-page.js'
import { element } from '../element.js'
import { labels, words } from '../page-words.js'
import { answerFrame } from '../question/answer-frame.js'
import { filterEditor } from '../question/filter-rows.js'
import { columnTitle } from '../../writers.js'
import { limitInput, questionForm } from '../question/panel.js'
import type { PageFacts, Panel, ViewChanges } from '../question/panel.js'
import { requestView } from '../question/request-view.js'
import { rowList } from '../question/row-list.js'
import { summaryParameters, writeSummaryQuestion } from '../question/summary-question.js'
import type { SummaryQuestion } from '../question/summary-question.js'
import type { AnalysisView } from '../question/view.js'
import { groupChoice } from './group-choice.js'
import { measureChoice } from './measure-choice.js'
import { orderChoice } from './order-choice.js'
import type { OrderPart } from './order-choice.js'
import { askSummary } from './summary-answer.js'
import { summaryColumns } from './summary-columns.js'

/** The service's own limits of groups in an answer. */
const limit = { usual: 100, max: 10_000 } as const

/** Asks for groups of rows: a chart and a table of measures. */
export function analysisPanel(facts: PageFacts, first: AnalysisView, changes: ViewChanges): Panel {
  let view = first
  let isAsking = false
  const frame = answerFrame(words.notAnalysed)
  const query = writeSummaryQuestion(first.question, labels)
  const request = requestView({ ...facts, kind: 'aggregate', query }, facts.shownToken)
  const { parts, read } = summaryParts(facts, first.question)
  const run = async () => {
    if (isAsking) return
    isAsking = true
    changes.asked(view)
    await askSummary(facts, frame, view.question, changes.opened)
    isAsking = false
  }
  const form = questionForm(
    parts,
    read,
    frame,
    (question) => {
      view = { tab: 'analyse', question }
      request.show('aggregate', writeSummaryQuestion(question, labels))
      changes.edited(view)
    },
    run,
  )
  const node = element('div', {}, form, frame.node, request.node)
  if (facts.shownToken === null) void explainPlan(facts, node)
  return {
    node,
    view: () => view,
    run: () => {
      if (form.checkValidity()) void run()
    },
  }
}

function summaryParts(facts: PageFacts, question: SummaryQuestion) {
  const { columns } = facts
  const filterable = columns.filter(({ name }) => !summaryParameters.includes(name))
  const measures = measureChoice(facts, question.measures)
  const group = groupChoice(columns, question.group)
  const filters = filterEditor(filterable, question.filters)
  const asked = (): readonly OrderPart[] => {
    const chosen = { ...question, measures: measures.read(), group: group.read() }
    const named = summaryColumns(facts, chosen, words)
    const titles = [...named.measures, ...named.groups].map(columnTitle)
    const texts = [...chosen.measures, ...chosen.group]
    return texts.map((text, at) => ({ text, title: titles[at] ?? text }))
  }
  const order = orderChoice(question.order, asked())
  const groups = limitInput('groups', words.groupsOfAnswer, {
    value: question.limit ?? limit.usual,
    max: limit.max,
  })
  const others = rowList(
    { legend: words.otherParts, add: '', remove: words.removePart },
    question.others,
    (text) => ({ node: element('code', {}, text), read: () => text ?? '' }),
    { max: 0 },
  )
  const read = () => {
    order.offer(asked())
    return {
      ...{ filters: filters.read(), group: group.read(), measures: measures.read() },
      ...{ order: order.read(), limit: groups.read(), others: others.read() },
    }
  }
  const last = element('div', { class: 'line' }, order.node, groups.node)
  const more = question.others.length > 0 ? [others.node] : []
  return { parts: [measures.node, group.node, filters.node, ...more, last], read }
}

/** A visitor's own plan may have no aggregates, which only the service knows. */
async function explainPlan({ dataset, token }: PageFacts, node: HTMLElement): Promise<void> {
  const answer = await ask(`/v1/${dataset}/schema`, token)
  if (answer.kind === 'refused') return
  const { aggregates } = JSON.parse(answer.text) as { readonly aggregates: unknown }
  if (aggregates === null) node.replaceChildren(element('p', {}, words.planWithoutAggregates))
}
