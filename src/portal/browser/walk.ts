import { answerView } from './answer-view.js'
import { ask } from './ask.js'
import type { PageColumn } from './page-column.js'
import { writeQuestion } from './question.js'
import type { Question } from './question.js'

export interface Walk {
  readonly node: HTMLElement
  /** Asks for the first page; what was under way is given up. */
  readonly start: (question: Question) => void
}

interface WalkFacts {
  readonly dataset: string
  readonly history: string
  readonly columns: readonly PageColumn[]
  readonly token: string
}

/**
 * Walks over the pages of a question. An earlier page is asked for again by its cursor: the
 * browser has it still, so that the server does not charge it twice.
 */
export function createWalk({ dataset, history, columns, token }: WalkFacts): Walk {
  let question: Question | null = null
  /** Of each page that was reached; the first has none. */
  let cursors: (string | null)[] = []
  let page = 0
  let asking = new AbortController()
  const view = answerView(history, {
    previous: () => {
      void load(page - 1)
    },
    next: () => {
      void load(page + 1)
    },
  })
  const load = async (wanted: number) => {
    if (!question) return
    const asked = question
    asking.abort()
    const { signal } = (asking = new AbortController())
    view.wait()
    const cursor = cursors[wanted] ?? null
    const query = writeQuestion(asked) + (cursor === null ? '' : `&cursor=${cursor}`)
    const answer = await ask(`/v1/${dataset}?${query}`, token, signal)
    if (signal.aborted) return
    const next = view.show(answer, shownColumns(columns, asked), wanted)
    if (answer.kind === 'refused') return
    page = wanted
    cursors[wanted + 1] = next
  }
  const start = (asked: Question) => {
    question = asked
    cursors = [null]
    void load(0)
  }
  return { node: view.node, start }
}

function shownColumns(columns: readonly PageColumn[], { select }: Question): readonly PageColumn[] {
  if (select.length === 0) return columns
  return select.flatMap((name) => columns.find((column) => column.name === name) ?? [])
}
