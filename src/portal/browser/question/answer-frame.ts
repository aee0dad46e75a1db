import { ask } from '../ask-page.js'
import type { Answer, Arrival, Left, Refusal } from '../ask-page.js'
import { element } from '../element.js'
import { words } from '../page-words.js'

/** The area of an answer and what is said of it, from before the request to its end. */
export interface AnswerFrame {
  /** What is happening, for a place beside the button that asks. */
  readonly status: HTMLElement
  readonly node: HTMLElement
  /** Where the answer is shown. */
  readonly body: HTMLElement
  readonly wait: () => void
  readonly arrive: (answer: Arrival, text: string) => void
  /** Shows why there is no answer; keeps or removes the one shown before it. */
  readonly refuse: (refusal: Refusal, isKept: boolean) => void
}

/** Creates the area of an answer, before anything is asked. */
export function answerFrame(notAsked: string): AnswerFrame {
  const status = element('span', { role: 'status', class: 'status' }, notAsked)
  const left = element('p', { class: 'muted left' })
  const body = element('div')
  const node = element('div', { class: 'answer' }, body, left)
  const end = (answer: Answer, text: string) => {
    node.removeAttribute('aria-busy')
    left.textContent = leftText(answer.left)
    status.classList.toggle('error', answer.kind === 'refused')
    status.textContent = text
  }
  return {
    ...{ status, node, body },
    wait: () => {
      status.classList.remove('error')
      status.textContent = words.running
      node.setAttribute('aria-busy', 'true')
    },
    arrive: end,
    refuse: (refusal, isKept) => {
      end(refusal, refusalText(refusal))
      if (!isKept) body.replaceChildren()
    },
  }
}

/**
 * Sends a request and shows its answer. `show` throws if the answer can't be read; `refuse` learns
 * of every failure. Neither is called if another view took the place of this one meanwhile.
 */
export async function askInto(
  frame: AnswerFrame,
  request: { readonly path: string; readonly token: string },
  show: (answer: Arrival) => void,
  refuse: (refusal: Refusal) => void = (refusal) => frame.refuse(refusal, false),
): Promise<void> {
  frame.wait()
  const answer = await ask(request.path, request.token)
  if (!frame.node.isConnected) return
  if (answer.kind === 'refused') return refuse(answer)
  try {
    show(answer)
  } catch {
    const { left } = answer
    const detail = words.unreadable
    refuse({ kind: 'refused', status: null, detail, retryAfterSeconds: null, left })
  }
}

/** What an empty answer says: a part of the rows may be all that the token sees. */
export function emptyText(scope: string | null): string {
  return scope === null ? words.noRows : `${words.noRows} ${words.noRowsSeen(scope)}`
}

function refusalText({ detail, retryAfterSeconds }: Refusal): string {
  const wait = retryAfterSeconds === null ? '' : ` ${words.retryAfter(retryAfterSeconds)}`
  return detail === null ? words.failed : `${detail}${wait}`
}

function leftText({ charged, rows, requests, requestsOf }: Left): string {
  return [
    ...(charged === null ? [] : [words.charged(charged)]),
    ...(rows === null ? [] : [words.rowsLeft(rows)]),
    ...(requests === null || requestsOf === null ? [] : [words.requestsLeft(requests, requestsOf)]),
  ].join(' · ')
}
