import type { Answer, Arrival, Left, Refusal } from '../ask-page.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { chart } from './chart.js'
import { readExactPage } from './exact-page.js'
import type { ExactPage } from './exact-page.js'
import type { PageColumn } from './page-column.js'
import { pageTable } from './page-table.js'
import { drawable, seriesOf } from './series.js'

export interface AnswerView {
  readonly node: HTMLElement
  readonly wait: () => void
  /** Shows a page, and returns the cursor of the next one. */
  readonly show: (answer: Arrival, columns: readonly PageColumn[], page: number) => string | null
  /** Shows why there is no page; keeps or removes the page shown before it. */
  readonly refuse: (refusal: Refusal, isKept: boolean) => void
}

interface Turns {
  readonly previous: () => void
  readonly next: () => void
}

/** The area that shows rows: state, table, paging, chart. */
export function answerView(history: string, { previous, next }: Turns): AnswerView {
  const status = element('p', { role: 'status', class: 'status' }, words.notAsked)
  const left = element('p', { class: 'muted left' })
  const body = element('div')
  const back = button(words.previous, () => {
    if (isEnabled(back)) previous()
  })
  const forth = button(words.next, () => {
    if (isEnabled(forth)) next()
  })
  const paging = element('p', { class: 'line paging', hidden: true }, back, forth)
  const node = element('div', { class: 'answer' }, status, body, paging, left)
  const end = (answer: Answer) => {
    node.removeAttribute('aria-busy')
    left.textContent = leftText(answer.left)
    status.classList.toggle('error', answer.kind === 'refused')
  }
  return {
    node,
    wait: () => {
      status.textContent = words.running
      node.setAttribute('aria-busy', 'true')
    },
    show: (answer, columns, page) => {
      end(answer)
      const read = readExactPage(answer.text)
      const isEmpty = read.rows.length === 0
      status.textContent = isEmpty ? emptyText(answer.scope) : pageText(page, read)
      body.replaceChildren(...(isEmpty ? [] : shown(read, columns, history, node.clientWidth)))
      paging.hidden = page === 0 && read.nextCursor === null
      enable(back, page > 0)
      enable(forth, read.nextCursor !== null)
      return read.nextCursor
    },
    refuse: (refusal, isKept) => {
      end(refusal)
      status.textContent = refusalText(refusal)
      if (isKept) return
      body.replaceChildren()
      paging.hidden = true
    },
  }
}

function emptyText(scope: string | null): string {
  return scope === null ? words.noRows : `${words.noRows} ${words.noRowsSeen(scope)}`
}

function isEnabled(turn: HTMLButtonElement): boolean {
  return turn.getAttribute('aria-disabled') !== 'true'
}

/** A button stays focusable when it is disabled, so that the focus is not lost. */
function enable(turn: HTMLButtonElement, isOn: boolean): void {
  turn.setAttribute('aria-disabled', String(!isOn))
}

function pageText(page: number, { rows }: ExactPage): string {
  return `${words.page(page + 1)} · ${words.pageRows(rows.length)}`
}

function refusalText({ detail, retryAfterSeconds }: Refusal): string {
  const wait = retryAfterSeconds === null ? '' : ` ${words.retryAfter(retryAfterSeconds)}`
  return detail === null ? words.failed : `${detail}${wait}`
}

function leftText({ rows, requests, requestsOf }: Left): string {
  return [
    ...(rows === null ? [] : [words.rowsLeft(rows)]),
    ...(requests === null || requestsOf === null ? [] : [words.requestsLeft(requests, requestsOf)]),
  ].join(' · ')
}

function shown(
  { rows }: ExactPage,
  columns: readonly PageColumn[],
  history: string,
  width: number,
): readonly HTMLElement[] {
  const table = pageTable(columns, rows)
  const choices = drawable(columns, history)
  const [first] = choices
  if (!first) return [table]
  const place = element('div')
  const draw = (drawn: PageColumn) => {
    const series = seriesOf(rows, columns, history, drawn)
    place.replaceChildren(...(series.length === 0 ? [] : [chart(series, drawn, history, width)]))
  }
  draw(first)
  if (choices.length === 1) return [table, place]
  const choice = element('select', {}, ...choices.map(({ name }) => element('option', {}, name)))
  choice.addEventListener('change', () => {
    draw(choices.find(({ name }) => name === choice.value) ?? first)
  })
  return [table, element('label', { class: 'line' }, `${words.chartColumn} `, choice), place]
}
