import type { Arrival, Refusal } from '../ask-page.js'
import { words } from '../page-words.js'
import { askInto } from '../question/answer-frame.js'
import type { AnswerFrame } from '../question/answer-frame.js'
import type { PageColumn } from '../question/page-column.js'
import type { PageFacts } from '../question/panel.js'
import { pathOfExport, writeRowsQuestion } from '../question/rows-question.js'
import type { RowsQuestion } from '../question/rows-question.js'
import { filesOf, takeAway } from '../question/take-away.js'
import { firstPlace } from '../question/view.js'
import type { Place } from '../question/view.js'
import { answerView } from './answer-view.js'

export interface Walk {
  readonly node: HTMLElement
  /** Requests a page, unless an answer is awaited: that answer may be charged. */
  readonly start: (question: RowsQuestion, place: Place) => void
  /**
   * Returns the page that is shown of a question, or its first one. Pages can be turned only while
   * the form holds the question that they answer.
   */
  readonly placeOf: (question: RowsQuestion) => Place
}

const badRequest = 400

/**
 * Moves through the pages of a question. It requests an earlier page again by its cursor; the
 * browser still has that page, so the server does not charge it twice. `turned` learns of every
 * page that is asked for, while the form holds its question.
 */
export function createWalk(
  facts: PageFacts,
  frame: AnswerFrame,
  turned: (place: Place) => void,
): Walk {
  /** The query that the form holds, and the one that is answered. */
  let [current, asked] = ['', '']
  let exportPath = ''
  let shown: readonly PageColumn[] = []
  /** By page, where they are known; the first page has none. */
  let cursors: (string | null | undefined)[] = []
  let page = 0
  let isAsking = false
  const placeAt = (index: number): Place => ({ page: index, cursor: cursors[index] ?? null })
  const setTurns = () => {
    const isCurrent = current === asked
    view.setTurns(isCurrent && page > 0, isCurrent && typeof cursors[page + 1] === 'string')
  }
  const load = async (wanted: number, beside = frame.status) => {
    if (isAsking) return
    isAsking = true
    const { cursor } = placeAt(wanted)
    const path = `/v1/${facts.dataset}?${asked}${cursor === null ? '' : `&cursor=${cursor}`}`
    const show = (answer: Arrival) => {
      const files = filesOf(path, exportPath)
      cursors[wanted + 1] = view.show(answer, shown, wanted, takeAway(files, facts.token))
      page = wanted
      setTurns()
      if (current === asked) turned(placeAt(page))
    }
    await askInto(frame, { path, token: facts.token, beside }, show, (refusal) => {
      frame.refuse(pageRefusal(refusal, cursor), view.isShown())
    })
    isAsking = false
  }
  const view = answerView(facts, frame, {
    // A page that was opened by its address does not know the one before it.
    previous: (status) => load(cursors[page - 1] === undefined ? 0 : page - 1, status),
    next: (status) => load(page + 1, status),
  })
  const start = (question: RowsQuestion, place: Place) => {
    if (isAsking) return
    asked = writeRowsQuestion(question)
    current = asked
    exportPath = pathOfExport(facts.dataset, question)
    shown = shownColumns(facts.columns, question)
    cursors = [null]
    cursors[place.page] = place.cursor
    page = place.page
    view.forget()
    turned(place)
    void load(page)
  }
  const placeOf = (question: RowsQuestion) => {
    current = writeRowsQuestion(question)
    setTurns()
    return current === asked ? placeAt(page) : firstPlace
  }
  return { node: frame.node, start, placeOf }
}

/** A cursor of another token, or of rows that are gone, is refused as part of a wrong question. */
function pageRefusal(refusal: Refusal, cursor: string | null): Refusal {
  const isStale = cursor !== null && refusal.status === badRequest
  return isStale ? { ...refusal, code: null, detail: words.pageGone } : refusal
}

function shownColumns(
  columns: readonly PageColumn[],
  { select }: RowsQuestion,
): readonly PageColumn[] {
  if (select.length === 0) return columns
  return select.flatMap((name) => columns.find((column) => column.name === name) ?? [])
}
