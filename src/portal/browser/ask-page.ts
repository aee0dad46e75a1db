import { words } from './page-words.js'

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
  readonly left: Left
}

export interface Refusal {
  readonly kind: 'refused'
  /** Null when no answer arrived. */
  readonly status: number | null
  /** The server's text or the page's; null when no answer arrived. */
  readonly detail: string | null
  readonly retryAfterSeconds: number | null
  readonly left: Left
}

export type Answer = Arrival | Refusal

const nothingKnown: Left = { charged: null, rows: null, requests: null, requestsOf: null }
/** Characters that no token has and no header can hold. */
const notAscii = /[^ -~]/

/** Sends a request with a token. Every failure is returned as a refusal. */
export async function ask(path: string, token: string): Promise<Answer> {
  if (notAscii.test(token)) return unanswered(words.notToken)
  try {
    const response = await fetch(`${document.documentElement.dataset['root'] ?? ''}${path}`, {
      headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
    })
    const text = await response.text()
    const left = leftOf(response.headers)
    if (response.ok) return { kind: 'text', text, scope: response.headers.get('X-Scope'), left }
    const retryAfterSeconds = count(response.headers, 'Retry-After')
    const { status } = response
    return { kind: 'refused', status, detail: detailOf(text), retryAfterSeconds, left }
  } catch {
    return unanswered(null)
  }
}

function unanswered(detail: string | null): Refusal {
  return { kind: 'refused', status: null, detail, retryAfterSeconds: null, left: nothingKnown }
}

function leftOf(headers: Headers): Left {
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

function detailOf(text: string): string | null {
  try {
    const { detail } = JSON.parse(text) as { readonly detail?: unknown }
    return typeof detail === 'string' ? detail : null
  } catch {
    return null
  }
}
