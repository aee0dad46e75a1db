import { orderedTypes } from '../../../columns/ordered-types.js'
import type { Arrival, Refusal } from '../ask-page.js'
import { words } from '../page-words.js'
import { askInto } from '../question/answer-frame.js'
import type { AnswerFrame } from '../question/answer-frame.js'
import { withNames } from '../question/code-names.js'
import { readExactRows } from '../question/exact-rows.js'
import type { Filter } from '../question/filters.js'
import type { PageColumn } from '../question/page-column.js'
import type { PageFacts } from '../question/panel.js'
import { pathOfExport, writeRowsQuestion } from '../question/rows-question.js'
import type { Order, RowsQuestion } from '../question/rows-question.js'
import { filterOf, nextOrder } from '../question/table-acts.js'
import type { TableActs } from '../question/table-acts.js'
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

/** What happens on the pages of a question. */
interface WalkEvents {
  /** A page is asked for, while the form holds its question. */
  readonly turned: (place: Place) => void
  /** A heading was clicked: the rows come in this order. */
  readonly sorted: (order: Order | null) => void
  /** A value was clicked. */
  readonly filtered: (filter: Filter) => void
}

const badRequest = 400

/**
 * Moves through the pages of a question. It requests an earlier page again by its cursor; the
 * browser still has that page, so the server does not charge it twice.
 */
export function createWalk(facts: PageFacts, frame: AnswerFrame, events: WalkEvents): Walk {
  /** The query that the form holds, and the one that is answered. */
  let [current, asked] = ['', '']
  let answered: RowsQuestion = { filters: [], select: [], limit: null, order: null }
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
    const path = pagePath(facts.dataset, answered, asked, cursor)
    const show = async (answer: Arrival) => {
      const rows = readExactRows(answer.text)
      const shown = shownColumns(facts.columns, answered)
      const columns = await withNames(facts.dataset, shown, rows)
      if (!frame.node.isConnected) return
      const content = { columns, rows, acts: actsOf(answered, events) }
      const files = takeAway(filesOf(path, pathOfExport(facts.dataset, answered)), facts.token)
      cursors[wanted + 1] = view.show(answer, content, wanted, files)
      page = wanted
      setTurns()
      if (current === asked) events.turned(placeAt(page))
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
    answered = question
    cursors = [null]
    cursors[place.page] = place.cursor
    page = place.page
    view.forget()
    events.turned(place)
    void load(page)
  }
  const placeOf = (question: RowsQuestion) => {
    current = writeRowsQuestion(question)
    setTurns()
    return current === asked ? placeAt(page) : firstPlace
  }
  return { node: frame.node, start, placeOf }
}

function pagePath(dataset: string, { order }: RowsQuestion, asked: string, cursor: string | null) {
  const turn = cursor === null ? '' : `&cursor=${cursor}`
  return `/v1/${dataset}${order === null ? '' : '/top'}?${asked}${turn}`
}

/** The column that filters can't name beside an order: its parameter has this name. */
const orderName = 'by'

/** What clicks in the rows of a question do. */
function actsOf({ filters, order }: RowsQuestion, { sorted, filtered }: WalkEvents): TableActs {
  const maySort = filters.every(({ column }) => column !== orderName)
  return {
    order,
    sort: (column) => {
      const isOrdered = maySort && orderedTypes.includes(column.type)
      return isOrdered ? () => sorted(nextOrder(column, order)) : undefined
    },
    filter: (column, cell) => {
      const filter = order && column.name === orderName ? undefined : filterOf(column, cell)
      return filter && (() => filtered(filter))
    },
  }
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
