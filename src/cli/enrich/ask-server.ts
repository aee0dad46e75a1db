import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import { ServiceError, errorCodes } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'
import { parsedJson } from '../../text.js'

const requestMsMax = 120_000
const triesMax = 30
const waitSecondsMax = 120

interface ServerAnswer {
  readonly text: string
  readonly headers: Headers
}

/** Asks a path: with a body a POST, else a GET. */
export type AskServer = (path: string, body?: object) => Promise<ServerAnswer>

interface Server {
  /** Without a slash at its end. */
  readonly address: string
  readonly token: string
}

/**
 * Asks a server over REST, rows as NDJSON. It waits as long as the server says where it asks too
 * much, or the server is busy. A request whose answer is lost is not sent again: it may be charged.
 * @throws ServiceError with the code and the text of the server; Error if no answer arrives
 */
export function askServer(server: Server, clock: Clock, signal: AbortSignal): AskServer {
  return async (path, body) => {
    for (let tries = 1; ; tries += 1) {
      const { status, text, headers } = await send(server, path, body, clock, signal)
      if (status === 200) return { text, headers }
      const error = errorOf(status, text)
      const canPass = status === 503 || error.code === 'rate_limit_exceeded'
      if (!canPass || tries === triesMax) throw error
      const seconds = Math.min(Number(headers.get('retry-after')) || 1, waitSecondsMax)
      await clock.sleep(seconds * 1000, signal)
    }
  }
}

async function send(
  { address, token }: Server,
  path: string,
  body: object | undefined,
  clock: Clock,
  signal: AbortSignal,
) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const accept = path.endsWith('/query') ? 'application/x-ndjson' : 'application/json'
  try {
    const answer = await fetch(address + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, accept, ...type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A token is sent to no other address.
      redirect: 'manual',
      signal: AbortSignal.any([signal, abortAfter(clock, requestMsMax)]),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  } catch (cause) {
    signal.throwIfAborted()
    const { cause: inner } = cause as Error
    const why = (inner as NodeJS.ErrnoException | undefined)?.code ?? (cause as Error).message
    throw new Error(`No answer from ${address} (${why}).`, { cause })
  }
}

function errorOf(status: number, text: string): ServiceError {
  const { error, detail } = (parsedJson(text) ?? {}) as { error?: unknown; detail?: unknown }
  const code = errorCodes.find((each) => each === error)
  const other: ErrorCode = status === 503 ? 'service_unavailable' : 'internal_error'
  const unknown = `The server answers ${status}. Is --server the address of the data service?`
  return new ServiceError(code ?? other, code && typeof detail === 'string' ? detail : unknown)
}
