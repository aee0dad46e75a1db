import { element } from '../element.js'
import { words } from '../page-words.js'
import { answerFrame } from '../question/answer-frame.js'
import { filterEditor } from '../question/filter-rows.js'
import { limitInput, questionForm } from '../question/panel.js'
import type { PageFacts, Panel, ViewChanges } from '../question/panel.js'
import { requestView } from '../question/request-view.js'
import { writeRowsQuestion } from '../question/rows-question.js'
import { firstPlace } from '../question/view.js'
import type { RowsView } from '../question/view.js'
import { columnPicker } from './column-picker.js'
import { createWalk } from './walk.js'

/** Asks for rows, page by page. */
export function rowsPanel(facts: PageFacts, first: RowsView, changes: ViewChanges): Panel {
  let view = first
  const { columns, limit, limitMax } = facts
  const { filters, select, limit: wanted } = first.question
  const frame = answerFrame(words.notAsked)
  const walk = createWalk(facts, frame, (place) => {
    view = { ...view, place }
    changes.asked(view)
  })
  const query = writeRowsQuestion(first.question)
  const request = requestView({ ...facts, kind: 'rows', query }, facts.shownToken)
  const parts = {
    filters: filterEditor(columns, filters),
    select: columnPicker(columns, select),
    limit: limitInput('rows', words.rowsOfPage, { value: wanted ?? limit, max: limitMax }),
  }
  const read = () => ({
    filters: parts.filters.read(),
    select: parts.select.read(),
    limit: parts.limit.read(),
  })
  const form = questionForm(
    Object.values(parts).map(({ node }) => node),
    read,
    frame,
    (question) => {
      view = { tab: 'rows', question, place: walk.placeOf(question) }
      request.show(writeRowsQuestion(question))
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
