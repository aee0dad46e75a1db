import { element } from '../element.js'
import { words } from '../page-words.js'
import { answerFrame } from '../question/answer-frame.js'
import { filterEditor } from '../question/filter-rows.js'
import { limitInput, questionForm } from '../question/panel.js'
import type { PageFacts, Panel, ViewChanges } from '../question/panel.js'
import { requestView } from '../question/request-view.js'
import { kindOf, writeRowsQuestion } from '../question/rows-question.js'
import type { RowsQuestion } from '../question/rows-question.js'
import { withFilter } from '../question/table-acts.js'
import { firstPlace } from '../question/view.js'
import type { RowsView } from '../question/view.js'
import { columnPicker } from './column-picker.js'
import { createWalk } from './walk.js'

/** Asks for rows, page by page. */
export function rowsPanel(facts: PageFacts, first: RowsView, changes: ViewChanges): Panel {
  let view = first
  const { columns, limit, limitMax } = facts
  const { filters, select, limit: wanted } = first.question
  const show = (question: RowsQuestion) => {
    view = { tab: 'rows', question, place: walk.placeOf(question) }
    request.show(kindOf(question), writeRowsQuestion(question))
  }
  const frame = answerFrame(words.notAsked)
  const walk = createWalk(facts, frame, {
    turned: (place) => {
      view = { ...view, place }
      changes.asked(view)
    },
    sorted: (order) => {
      show({ ...view.question, order })
      walk.start(view.question, firstPlace)
    },
    filtered: (filter) => {
      const question = { ...view.question, filters: withFilter(view.question.filters, filter) }
      changes.opened({ tab: 'rows', question, place: firstPlace })
    },
  })
  const query = writeRowsQuestion(first.question)
  const request = requestView({ ...facts, kind: kindOf(first.question), query }, facts.shownToken)
  const parts = {
    filters: filterEditor(columns, filters),
    select: columnPicker(columns, select),
    limit: limitInput('rows', words.rowsOfPage, { value: wanted ?? limit, max: limitMax }),
  }
  const read = () => ({
    filters: parts.filters.read(),
    select: parts.select.read(),
    limit: parts.limit.read(),
    order: view.question.order,
  })
  const form = questionForm(
    Object.values(parts).map(({ node }) => node),
    read,
    frame,
    (question) => {
      show(question)
      changes.edited(view)
    },
    () => walk.start(view.question, firstPlace),
  )
  return {
    node: element('div', {}, form, walk.node, request.node),
    view: () => view,
    run: () => {
      if (form.checkValidity()) walk.start(view.question, view.place)
    },
  }
}
