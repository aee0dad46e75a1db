import type { ErrorCode } from '../../errors.js'
import { signInSay, words } from './page-words.js'
import { sessionMark } from './tab-store.js'

/** What an answer cost, and what is left of quota and rate limit; null = not counted. */
export interface Left {
  readonly charged: number | null
  readonly rows: number | null
  readonly requests: number | null
  readonly requestsOf: number | null
}

export interface Arrival {
  readonly kind: 'text'
  readonly text: string
  /** The part of the dataset that the token sees; null = all of it. */
  readonly scope: string | null
  /** More rows meet the question than the answer has. */
  readonly isTruncated: boolean
  readonly left: Left
}

export interface Refusal {
  readonly kind: 'refused'
  /** Null when no answer arrived. */
  readonly status: number | null
  /** The API's code; null for the page's own refusals, other codes, and answers of anybody else. */
  readonly code: ErrorCode | null
  /** The server's text or the page's; null when no answer arrived. */
  readonly detail: string | null
  /** The detail is in the language of the page; else it is English. */
  readonly isTranslated: boolean
  readonly retry: Retry | null
  readonly left: Left
}

/** When the same request may succeed. */
interface Retry {
  readonly seconds: number
  /** ISO 8601, by the clock of the server; null if the answer does not say its time. */
  readonly at: string | null
}

export type Answer = Arrival | Refusal

/** The path prefix behind a proxy; usually empty. */
export const root = document.documentElement.dataset['root'] ?? ''

const minuteMs = 60_000
const nothingKnown: Left = { charged: null, rows: null, requests: null, requestsOf: null }
/** Characters that no token has and no header can hold. */
const notAscii = /[^ -~]/

/** Asks for JSON, with a token or as a visitor. Every failure is returned as a refusal. */
export function ask(path: string, token: string | null): Promise<Answer> {
  const headers = { Accept: 'application/json' }
  return askFor(path, token, { headers }, async (response) => ({
    kind: 'text',
    text: await response.text(),
    scope: response.headers.get('X-Scope'),
    isTruncated: response.headers.get('X-Truncated') === 'true',
    left: leftOf(response.headers),
  }))
}

/**
 * Sends a request, with a token or without, and reads what arrives. Every failure is returned as a
 * refusal.
 */
export async function askFor<Content>(
  path: string,
  token: string | null,
  { headers, ...request }: RequestInit & { readonly headers?: Readonly<Record<string, string>> },
  read: (response: Response) => Promise<Content>,
): Promise<Content | Refusal> {
  if (token !== null && notAscii.test(token)) return unanswered(words.notToken)
  const send = (secret: string | null) =>
    fetch(`${root}${path}`, {
      ...request,
      headers: { ...headers, ...(secret !== null && { Authorization: `Bearer ${secret}` }) },
    })
  try {
    const response = token?.startsWith(sessionMark)
      ? await sendSignedIn(token, send)
      : await send(token)
    if (response === null) return unanswered(signInSay.ended)
    if (response.ok) return await read(response)
    const left = leftOf(response.headers)
    const retry = retryOf(response.headers)
    const error = errorOf(await response.text())
    return { kind: 'refused', status: response.status, ...error, isTranslated: false, retry, left }
  } catch {
    return unanswered(null)
  }
}

/** Secrets by the mark of their subscription, in the memory of this page only. */
const secrets = new Map<string, string>()

/** Sends with a secret of the session, with a new one if it has ended; null without a session. */
async function sendSignedIn(
  mark: string,
  send: (secret: string) => Promise<Response>,
): Promise<Response | null> {
  const kept = secrets.get(mark)
  const first = kept === undefined ? null : await send(kept)
  if (first !== null && first.status !== 401) return first
  const answer = await fetch(`${root}/session/access`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ subscription: mark.slice(sessionMark.length) }),
  })
  if (answer.status === 401 || answer.status === 404) return null
  if (!answer.ok) return answer
  const { access } = (await answer.json()) as { readonly access: string }
  secrets.set(mark, access)
  return await send(access)
}

/** A refusal of the page itself; null = no answer arrived. */
export function unanswered(detail: string | null, left: Left = nothingKnown): Refusal {
  const nothing = { status: null, code: null, retry: null }
  return { kind: 'refused', ...nothing, detail, isTranslated: true, left }
}

/** What the answer with these headers cost and left. */
export function leftOf(headers: Headers): Left {
  return {
    charged: count(headers, 'X-Rows-Charged'),
    rows: count(headers, 'X-Quota-Rows-Remaining'),
    requests: count(headers, 'X-RateLimit-Remaining'),
    requestsOf: count(headers, 'X-RateLimit-Limit'),
  }
}

function count(headers: Headers, name: string): number | null {
  const text = headers.get(name)
  return text === null ? null : Number(text)
}

function errorOf(text: string): Pick<Refusal, 'code' | 'detail'> {
  try {
    const { error, detail } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return {
      // A code that the page does not know has no words, and its detail is shown.
      code: isKnown(error) ? error : null,
      detail: typeof detail === 'string' ? detail : null,
    }
  } catch {
    return { code: null, detail: null }
  }
}

function isKnown(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(words.refusals, code)
}

/** `Date` may be a second old: whole minutes keep midnight from becoming the day before. */
function retryOf(headers: Headers): Retry | null {
  const seconds = count(headers, 'Retry-After')
  if (seconds === null) return null
  const now = Date.parse(headers.get('Date') ?? '')
  const minutes = Math.round((now + seconds * 1000) / minuteMs)
  return { seconds, at: Number.isFinite(now) ? new Date(minutes * minuteMs).toISOString() : null }
}
