import { ask, unanswered } from '../ask-page.js'
import type { Answer, Arrival, Left, Refusal } from '../ask-page.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import { sayRefusal } from '../refusal-text.js'

/** The area of an answer and what is said of it, from before the request to its end. */
export interface AnswerFrame {
  /** What is happening, for a place beside the button that asks. */
  readonly status: HTMLElement
  readonly node: HTMLElement
  /** Where the answer is shown. */
  readonly body: HTMLElement
  /** Says that an answer is awaited, and later why none came, beside the button pressed. */
  readonly wait: (beside?: HTMLElement) => void
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
  let pressed = status
  const say = (place: HTMLElement, text: string, isError: boolean) => {
    place.classList.toggle('error', isError)
    place.textContent = text
  }
  const end = (answer: Answer) => {
    node.removeAttribute('aria-busy')
    left.textContent = leftText(answer.left)
  }
  return {
    ...{ status, node, body },
    wait: (beside = status) => {
      if (pressed.classList.contains('error')) say(pressed, '', false)
      pressed = beside
      say(pressed, words.running, false)
      node.setAttribute('aria-busy', 'true')
    },
    arrive: (answer, text) => {
      end(answer)
      say(pressed, '', false)
      say(status, text, false)
    },
    refuse: (refusal, isKept) => {
      end(refusal)
      say(pressed, '', true)
      sayRefusal(pressed, refusal)
      if (!isKept) body.replaceChildren()
    },
  }
}

export interface AnswerRequest {
  readonly path: string
  readonly token: string
  /** Where to say what happens, if not beside "Run". */
  readonly beside?: HTMLElement
}

/**
 * Sends a request and shows its answer. `show` throws if the answer can't be read; `refuse` learns
 * of every failure. Neither is called if another view took the place of this one meanwhile.
 */
export async function askInto(
  frame: AnswerFrame,
  request: AnswerRequest,
  show: (answer: Arrival) => void | Promise<void>,
  refuse: (refusal: Refusal) => void = (refusal) => frame.refuse(refusal, false),
): Promise<void> {
  frame.wait(request.beside)
  const answer = await ask(request.path, request.token)
  if (!frame.node.isConnected) return
  if (answer.kind === 'refused') return refuse(answer)
  try {
    await show(answer)
  } catch {
    refuse(unanswered(words.unreadable, answer.left))
  }
}

/** What an empty answer says: a part of the rows may be all that the token sees. */
export function emptyText(scope: string | null): string {
  return scope === null ? words.noRows : `${words.noRows} ${words.noRowsSeen(scope)}`
}

function leftText({ charged, rows, requests, requestsOf }: Left): string {
  return [
    ...(charged === null ? [] : [words.charged(charged)]),
    ...(rows === null ? [] : [words.rowsLeft(rows)]),
    ...(requests === null || requestsOf === null ? [] : [words.requestsLeft(requests, requestsOf)]),
  ].join(' · ')
}
