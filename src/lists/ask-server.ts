import { ServiceError, errorCodes } from '../errors.js'
import type { ErrorCode } from '../errors.js'

const triesMax = 30
const waitSecondsMax = 120

interface ServerAnswer {
  readonly text: string
  readonly headers: Headers
}

/** Asks a path: with a body a POST, else a GET. Rows of lists arrive as NDJSON. */
export type AskServer = (path: string, body?: object) => Promise<ServerAnswer>

/** Sends a request once; what the server refuses is returned. @throws if no answer arrives */
type SendOnce = (path: string, body?: object) => Promise<ServerAnswer | ServiceError>

/**
 * Asks a server and waits as long as it says where it asks too much, or the server is busy. A
 * request whose answer is lost is not sent again: it may be charged.
 * @throws ServiceError of the server
 */
export function patientAsk(send: SendOnce, sleep: (ms: number) => Promise<void>): AskServer {
  return async (path, body) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await send(path, body)
      if (!(answer instanceof ServiceError)) return answer
      const canPass = ['service_unavailable', 'rate_limit_exceeded'].includes(answer.code)
      if (!canPass || tries === triesMax) throw answer
      await sleep(Math.min(answer.retryAfterSeconds ?? 1, waitSecondsMax) * 1000)
    }
  }
}

/** The media type in which a path is answered. */
export function acceptOf(path: string): string {
  return path.endsWith('/query') ? 'application/x-ndjson' : 'application/json'
}

/** A code as the service knows it, or what the status of an unknown one means. */
export function codeOf(error: unknown, status: number): ErrorCode {
  const other: ErrorCode = status === 503 ? 'service_unavailable' : 'internal_error'
  return errorCodes.find((each) => each === error) ?? other
}
