import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import { untilAborted } from '../deadline.js'
import { statementText } from './statement.js'
import type { Statement, TrinoRow } from './statement.js'

/** Who asks a cluster. */
export interface TrinoLogin {
  readonly user: string
  /** Null = none is sent. */
  readonly password: string | null
}

/** A statement that Trino refused or that failed there. Its text is for the owner's log. */
export class TrinoError extends Error {
  /** Trino's own word: `TABLE_NOT_FOUND`. */
  readonly code: string
  /** `USER_ERROR`, `INSUFFICIENT_RESOURCES`, `EXTERNAL` or `INTERNAL_ERROR`. */
  readonly kind: string

  constructor({ errorName = 'UNKNOWN', errorType = 'UNKNOWN', message = '' }: Failure) {
    super(`Trino: ${errorName}: ${message}`)
    this.name = 'TrinoError'
    this.code = errorName
    this.kind = errorType
  }
}

/** The cluster gives no answer, or one that is not Trino's. */
export class UnreachableError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`Trino can't be reached: ${reason}`, options)
    this.name = 'UnreachableError'
  }
}

/** Rows have no order or no place in a cursor: the declared key is not unique, or too long. */
export class KeyError extends Error {}

/** One answer of the protocol: https://trino.io/docs/current/develop/client-protocol.html */
interface Answer {
  readonly nextUri?: string
  readonly data?: readonly TrinoRow[]
  readonly error?: Failure
}

interface Failure {
  readonly errorName?: string
  readonly errorType?: string
  readonly message?: string
}

type Method = 'POST' | 'GET' | 'DELETE'

/** Trino answers within a second, also while a query runs. */
const requestMs = 15_000
const cancelMs = 5000
const triesMax = 5
const retryMs = 100
/** An intermittent failure, by the protocol. */
const retried: readonly number[] = [502, 503, 504]
/** Of the texts of a result: a page has at most 100,000 rows. */
const resultCharactersMax = 256 * 1024 ** 2

/**
 * A client of one Trino cluster: one statement, all of its rows. The npm package `trino-client`
 * stops neither a request nor its query when the caller hangs up, and tries nothing again.
 */
export class TrinoClient {
  readonly #clock: Clock
  readonly #origin: URL
  readonly #headers: Readonly<Record<string, string>>

  /** @throws Error for a password that would be sent unencrypted */
  constructor(url: string, { user, password }: TrinoLogin, clock: Clock) {
    this.#clock = clock
    this.#origin = new URL(url)
    if (password !== null && this.#origin.protocol !== 'https:') {
      throw new Error('the password of Trino (DAS_TRINO_PASSWORD) is only sent to https:// URLs')
    }
    const basic = Buffer.from(`${user}:${password ?? ''}`).toString('base64')
    this.#headers = {
      'x-trino-user': user,
      'x-trino-source': 'dataset-access-service',
      'x-trino-time-zone': 'UTC',
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
      ...(password !== null && { authorization: `Basic ${basic}` }),
    }
  }

  /**
   * Runs a statement and returns its rows. When the signal aborts, the query is cancelled.
   * @throws the signal's reason; TrinoError; UnreachableError
   */
  async run(statement: Statement, signal: AbortSignal): Promise<readonly TrinoRow[]> {
    signal.throwIfAborted()
    // Without the signal: only an answer names the query, which is cancelled by that name.
    const started = this.#request('POST', '/v1/statement', statementText(statement))
    let answer = await untilAborted(signal, started, (late) => this.#cancel(late))
    const rows: TrinoRow[] = []
    let characters = 0
    for (;;) {
      if (answer.error) throw new TrinoError(answer.error)
      for (const row of answer.data ?? []) {
        rows.push(row)
        characters += row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
      }
      const { nextUri } = answer
      if (nextUri === undefined) return rows
      if (characters > resultCharactersMax) {
        this.#cancel(answer)
        throw new TrinoError({ errorName: 'RESULT_TOO_LARGE', errorType: 'INSUFFICIENT_RESOURCES' })
      }
      const before = answer
      try {
        answer = await this.#request('GET', nextUri, undefined, signal)
      } catch (cause) {
        this.#cancel(before)
        throw cause
      }
    }
  }

  /** Tells Trino to stop a query; if that fails, Trino ends it by its own time limit. */
  #cancel({ nextUri }: Answer): void {
    if (nextUri === undefined) return
    const url = new URL(nextUri)
    void fetch(new URL(url.pathname + url.search, this.#origin), {
      method: 'DELETE',
      headers: this.#headers,
      signal: abortAfter(this.#clock, cancelMs),
    })
      .then((response) => response.body?.cancel())
      .catch(() => undefined)
  }

  /** Only ever asks the registry's address: the login belongs there. */
  async #request(
    method: Method,
    target: string,
    body?: string,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const { pathname, search } = new URL(target, this.#origin)
    const url = new URL(pathname + search, this.#origin)
    for (let tries = 1; ; tries++) {
      const response = await this.#fetch(url, { method, headers: this.#headers, body }, signal)
      if (response.ok) return answerOf(response, signal)
      await response.body?.cancel()
      if (!retried.includes(response.status) || tries === triesMax) {
        throw new UnreachableError(`it answers HTTP ${response.status}`)
      }
      await this.#clock.sleep(retryMs * tries, signal)
    }
  }

  async #fetch(
    url: URL,
    request: {
      method: Method
      headers: Readonly<Record<string, string>>
      body: string | undefined
    },
    signal?: AbortSignal,
  ): Promise<Response> {
    const limit = abortAfter(this.#clock, requestMs)
    try {
      return await fetch(url, {
        method: request.method,
        headers: request.headers,
        ...(request.body !== undefined && { body: request.body }),
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      })
    } catch (cause) {
      signal?.throwIfAborted()
      throw new UnreachableError(reasonOf(cause), { cause })
    }
  }
}

async function answerOf(response: Response, signal?: AbortSignal): Promise<Answer> {
  try {
    return (await response.json()) as Answer
  } catch (cause) {
    signal?.throwIfAborted()
    throw new UnreachableError('its answer is not complete', { cause })
  }
}

/** Why a request failed, without its address. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause
  const { code, name } = inner as { readonly code?: unknown; readonly name?: unknown }
  if (name === 'TimeoutError') return 'it does not answer'
  return typeof code === 'string' ? code : 'the connection failed'
}
