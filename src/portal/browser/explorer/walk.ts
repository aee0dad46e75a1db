import { ask } from '../ask-page.js'
import type { Refusal } from '../ask-page.js'
import { words } from '../page-words.js'
import { answerView } from './answer-view.js'
import type { PageColumn } from './page-column.js'
import { writeQuestion } from './question-form.js'
import type { Question } from './question-form.js'

export interface Walk {
  readonly node: HTMLElement
  /** Requests the first page, unless an answer is awaited: that answer may be charged. */
  readonly start: (question: Question) => void
}

interface WalkFacts {
  readonly dataset: string
  readonly history: string
  readonly columns: readonly PageColumn[]
  readonly token: string
}

/**
 * Moves through the pages of a question. It requests an earlier page again by its cursor; the
 * browser still has that page, so the server does not charge it twice.
 */
export function createWalk({ dataset, history, columns, token }: WalkFacts): Walk {
  let question: Question | null = null
  /** One for each page reached so far; the first page has no cursor. */
  let cursors: (string | null)[] = []
  let page = 0
  let isAsking = false
  const view = answerView(history, {
    previous: () => {
      void load(page - 1)
    },
    next: () => {
      void load(page + 1)
    },
  })
  const load = async (wanted: number) => {
    if (!question || isAsking) return
    isAsking = true
    view.wait()
    const cursor = cursors[wanted] ?? null
    const query = writeQuestion(question) + (cursor === null ? '' : `&cursor=${cursor}`)
    const answer = await ask(`/v1/${dataset}?${query}`, token)
    isAsking = false
    // Before the first page of this question, the rows on screen answer another question.
    const refuse = (refusal: Refusal) => view.refuse(refusal, cursors.length > 1)
    if (answer.kind === 'refused') return refuse(answer)
    try {
      cursors[wanted + 1] = view.show(answer, shownColumns(columns, question), wanted)
      page = wanted
    } catch {
      refuse({ ...answer, kind: 'refused', detail: words.unreadable, retryAfterSeconds: null })
    }
  }
  const start = (asked: Question) => {
    if (isAsking) return
    question = asked
    cursors = [null]
    page = 0
    void load(0)
  }
  return { node: view.node, start }
}

function shownColumns(columns: readonly PageColumn[], { select }: Question): readonly PageColumn[] {
  if (select.length === 0) return columns
  return select.flatMap((name) => columns.find((column) => column.name === name) ?? [])
}
