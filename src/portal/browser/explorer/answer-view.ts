import type { Arrival } from '../ask-page.js'
import { charts } from '../chart/charts.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { emptyText } from '../question/answer-frame.js'
import type { AnswerFrame } from '../question/answer-frame.js'
import { columnTitle } from '../../writers.js'
import { pageTable } from '../question/page-table.js'
import type { PageFacts } from '../question/panel.js'
import type { TableContent } from '../question/table-sizes.js'

export interface AnswerView {
  /** Shows a page with the buttons that save it, and returns the cursor of the next one. */
  readonly show: (
    answer: Arrival,
    content: TableContent,
    page: number,
    files: HTMLElement,
  ) => string | null
  /** Whether a page of the question is on screen. */
  readonly isShown: () => boolean
  /** What is on screen answers another question from now on. */
  readonly forget: () => void
  readonly setTurns: (back: boolean, forth: boolean) => void
}

/** Turn a page, and say what happens there. */
interface Turns {
  readonly previous: (status: HTMLElement) => Promise<void>
  readonly next: (status: HTMLElement) => Promise<void>
}

/** Shows pages of rows in the area of an answer: table, paging, chart. */
export function answerView(
  { history }: PageFacts,
  { arrive, body, node }: AnswerFrame,
  { previous, next }: Turns,
): AnswerView {
  const status = element('span', { role: 'status', class: 'status' })
  const back = turnButton(words.previous, () => previous(status))
  const forth = turnButton(words.next, () => next(status))
  const paging = element('p', { class: 'line paging' }, back, forth, status)
  let isShown = false
  return {
    show: (answer, { columns, rows, acts }, page, files) => {
      // The server validates this answer against its schema; another one throws.
      const { next_cursor: cursor } = JSON.parse(answer.text) as { next_cursor: string | null }
      const { order } = acts
      const isEmpty = rows.length === 0
      const sortedBy = columns.find(({ name }) => name === order?.column)
      const place = order
        ? words.sortedBy(sortedBy ? columnTitle(sortedBy) : order.column, order.isDescending)
        : words.page(page + 1)
      const text = `${place} · ${words.pageRows(rows.length)}`
      arrive(answer, isEmpty ? emptyText(answer.scope) : text)
      const hasOthers = page > 0 || cursor !== null
      const chart = { rows, columns, time: history, width: node.clientWidth, order }
      const picture = charts({
        ...chart,
        isPartial: hasOthers || answer.isTruncated,
        filledIn: order?.column,
      })
      body.replaceChildren(
        ...(isEmpty ? [] : [pageTable({ columns, rows, acts })]),
        ...(hasOthers ? [paging] : []),
        ...(isEmpty ? [] : [files]),
        ...picture,
      )
      if (order) body.querySelector<HTMLElement>('[aria-sort] button')?.focus()
      isShown = true
      return cursor
    },
    isShown: () => isShown,
    forget: () => {
      isShown = false
    },
    setTurns: (canGoBack, canGoOn) => {
      // A button stays focusable when it is disabled, so that the focus is not lost.
      back.setAttribute('aria-disabled', String(!canGoBack))
      forth.setAttribute('aria-disabled', String(!canGoOn))
    },
  }
}

function turnButton(text: string, turn: () => Promise<void>): HTMLButtonElement {
  const made = button(text, () => {
    if (made.getAttribute('aria-disabled') !== 'true') void turn()
  })
  return made
}
