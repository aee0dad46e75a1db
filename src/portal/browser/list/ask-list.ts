import { ServiceError } from '../../../errors.js'
import { acceptOf, codeOf, patientAsk } from '../../../lists/ask-server.js'
import type { AskServer, ServerAnswer } from '../../../lists/ask-server.js'
import { askFor } from '../ask-page.js'
import type { Refusal } from '../ask-page.js'
import { element } from '../element.js'
import { sayRefusal } from '../refusal-text.js'
import { say } from './list-say.js'

/**
 * Asks the service patiently; `waits` learns for how many seconds. Once the signal aborts, nothing
 * more is sent: what was sent is paid, so its answer is waited for.
 */
export function askWith(
  token: string,
  signal: AbortSignal,
  waits: (seconds: number) => void,
): AskServer {
  const send = async (path: string, body?: object): Promise<ServerAnswer | ServiceError> => {
    signal.throwIfAborted()
    const sent = body && { method: 'POST', body: JSON.stringify(body) }
    const type = body && { 'Content-Type': 'application/json' }
    const headers = { Accept: acceptOf(path), ...type }
    const answer = await askFor(path, token, { headers, ...sent }, async (response) => ({
      kind: 'text' as const,
      text: await response.text(),
      headers: response.headers,
    }))
    return answer.kind === 'text' ? answer : errorOf(answer)
  }
  return patientAsk(send, (ms) => {
    waits(ms / 1000)
    return sleep(ms, signal)
  })
}

/** Waits; a signal ends it with an error. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new Error('stopped'))
    })
  })
}

function errorOf(refusal: Refusal): ServiceError {
  const { code, status, detail, retry } = refusal
  return new ServiceError(codeOf(code, status ?? 0), detail ?? '', {
    cause: refusal,
    ...(retry && { retryAfterSeconds: retry.seconds }),
  })
}

/** Says why a list can't be read, or why the service does not answer. */
export function sayProblem(place: HTMLElement, cause: unknown): void {
  const { message, cause: refusal } = cause as { message: string; cause?: Refusal }
  place.classList.add('error')
  if (refusal?.kind === 'refused') return sayRefusal(place, refusal)
  const detail = element('span', { class: 'detail', lang: 'en' }, message.replace(/^error: /, ''))
  place.replaceChildren(say.unreadable, ' ', detail)
}
