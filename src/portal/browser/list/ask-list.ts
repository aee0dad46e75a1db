import { ServiceError } from '../../../errors.js'
import { acceptOf, codeOf, patientAsk } from '../../../lists/ask-server.js'
import type { AskServer } from '../../../lists/ask-server.js'
import { TableError } from '../../../versions/tables/table.js'
import { askFor } from '../ask-page.js'
import type { Refusal } from '../ask-page.js'
import { element } from '../element.js'
import { sayRefusal } from '../refusal-text.js'
import { say } from './list-say.js'

/**
 * Asks the service patiently; `status` says how long it waits. Once the signal aborts, nothing more
 * is sent: what was sent is paid, so its answer is waited for.
 */
export function askWith(token: string, signal: AbortSignal, status: HTMLElement): AskServer {
  return patientAsk(
    async (path, body) => {
      signal.throwIfAborted()
      const type = body && { 'Content-Type': 'application/json' }
      const sent = body && { method: 'POST', body: JSON.stringify(body) }
      const request = { headers: { Accept: acceptOf(path), ...type }, ...sent }
      const answer = await askFor(path, token, request, async (response) => ({
        ...{ kind: 'text' as const, text: await response.text(), headers: response.headers },
      }))
      if (answer.kind === 'text') return answer
      const { code, status, detail, retry } = answer
      const wait = retry && { retryAfterSeconds: retry.seconds }
      return new ServiceError(codeOf(code, status ?? 0), detail ?? '', { cause: answer, ...wait })
    },
    (ms) => {
      status.textContent = say.waiting(ms / 1000)
      return sleep(ms, signal)
    },
  )
}

/** Waits until then, or until the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

/** Says why a list can't be read, or why the service does not answer; null = nothing to say. */
export function sayProblem(place: HTMLElement, cause: unknown): void {
  place.classList.toggle('error', cause !== null)
  if (cause === null) return place.replaceChildren()
  const { message, cause: refusal } = cause as { message: string; cause?: Refusal }
  if (refusal?.kind === 'refused') return sayRefusal(place, refusal)
  const isOurs = [say.noNames, say.tooLarge].includes(message)
  const isUnreadable = isOurs || cause instanceof TableError || refusal?.code === 'bad_request'
  const detail = element(
    'span',
    { class: 'detail', lang: isOurs ? null : 'en' },
    message.replace(/^error: /, ''),
  )
  place.replaceChildren(...(isUnreadable ? [say.unreadable, ' '] : []), detail)
}
