import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import { ServiceError } from '../../errors.js'
import { acceptOf, codeOf, patientAsk } from '../../lists/ask-server.js'
import type { AskServer } from '../../lists/ask-server.js'
import { parsedJson } from '../../text.js'

const requestMsMax = 120_000

interface Server {
  /** Without a slash at its end. */
  readonly address: string
  readonly token: string
}

/**
 * Asks a server over REST, patiently.
 * @throws ServiceError with the code and the text of the server; Error if no answer arrives
 */
export function askServer(server: Server, clock: Clock, signal: AbortSignal): AskServer {
  return patientAsk(
    async (path, body) => {
      const { status, text, headers } = await send(server, path, body, clock, signal)
      return status === 200 ? { text, headers } : errorOf(status, text, headers)
    },
    (ms) => clock.sleep(ms, signal),
  )
}

async function send(
  { address, token }: Server,
  path: string,
  body: object | undefined,
  clock: Clock,
  signal: AbortSignal,
) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    const answer = await fetch(address + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, accept: acceptOf(path), ...type },
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

function errorOf(status: number, text: string, headers: Headers): ServiceError {
  const { error, detail } = (parsedJson(text) ?? {}) as { error?: unknown; detail?: unknown }
  const code = codeOf(error, status)
  const unknown = `The server answers ${status}. Is --server the address of the data service?`
  const isKnown = code === error && typeof detail === 'string'
  return new ServiceError(code, isKnown ? detail : unknown, {
    retryAfterSeconds: Number(headers.get('retry-after')) || 1,
  })
}
