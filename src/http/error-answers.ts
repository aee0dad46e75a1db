import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.js'
import { ServiceError, asServiceError, badRequest, errorStatus, isFault } from '../errors.js'
import { recordOf } from './request-record.js'

/** Framework errors that a caller causes, with this service's texts. Any other is a 500. */
const frameworkErrors: Readonly<Record<string, ServiceError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongMediaType(false),
  FST_ERR_BAD_URL: new ServiceError(
    'bad_request',
    'The path has a broken percent-encoding. Encode "%" as %25.',
  ),
  FST_ERR_MAX_PARAM_LENGTH: nothingHere(),
  // Fastify throws this for QUERY, which no path supports.
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: nothingHere(),
}

/** How long a refused connection is still read, so the answer arrives before the reset. */
const lingerMs = 1000

/** The 404 of an unknown path. */
export function nothingHere(): ServiceError {
  return new ServiceError('not_found', 'There is nothing at this path.')
}

/** The 415 of a route that takes a form, or JSON. */
export function wrongMediaType(takesForm: boolean): ServiceError {
  const [body, type] = takesForm
    ? ['a form', 'application/x-www-form-urlencoded']
    : ['JSON', 'application/json']
  const detail = `The body must be ${body}. Send the header "Content-Type: ${type}".`
  return new ServiceError('unsupported_media_type', detail)
}

/** Sends an error as a page, with its status; false if the client does not want one. */
export type SendProblemPage = (
  error: ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
) => boolean

/**
 * Sends every error: status, `Retry-After` and the body `{error, detail}`, or a page. A client that
 * disconnected gets no answer, and errors that its disconnect caused are not faults.
 */
export function sendError(
  cause: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  sendPage?: SendProblemPage,
): void {
  const error = noteError(cause, request, reply)
  if (error === null) return
  if (error.code === 'unauthorized') {
    const challenge = request.challenge ?? 'Bearer realm="datasets", error="invalid_token"'
    void reply.header('WWW-Authenticate', challenge)
  }
  if (sendPage?.(error, request, reply)) return
  void reply
    .code(errorStatus[error.code])
    .type('application/json; charset=utf-8')
    .send(errorBody(error))
}

/** Logs an error and prepares its headers; null for a client that disconnected. */
export function noteError(
  cause: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): ServiceError | null {
  if (isHangUp(cause, request)) return null
  const code = (cause as FastifyError | undefined)?.code
  const error = asServiceError(frameworkErrors[code ?? ''] ?? cause)
  recordOf(request).outcome = error.code
  if (isFault(error)) request.log.error({ err: error.cause ?? cause }, error.code)
  if (error.retryAfterSeconds !== undefined) {
    void reply.header('Retry-After', String(error.retryAfterSeconds))
  }
  return error
}

function isHangUp(cause: unknown, request: FastifyRequest): boolean {
  if (!request.socket.destroyed) return false
  const brokeOff = (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET'
  return brokeOff || cause === request.context?.signal.reason
}

function errorBody(error: ServiceError): string {
  return JSON.stringify({ error: error.code, detail: error.detail })
}

/** The error of Node's parser for a refused request. */
type BrokenRequest = Error & { readonly code?: string; readonly reason?: string }

/**
 * Answers requests that Node refuses before Fastify: headers or URL too large, broken HTTP, a
 * client that is too slow. Returns the status that was sent; undefined if none was sent.
 */
export function answerBrokenRequest(
  cause: BrokenRequest,
  socket: Socket,
  requestId: string,
  clock: Clock,
): number | undefined {
  if (!socket.writable || isAnswering(socket)) {
    if (!socket.writableEnded) socket.destroy()
    return undefined
  }
  const error = brokenRequestError(cause)
  const status = errorStatus[error.code]
  const body = errorBody(error)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n' +
      `X-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  clock.after(lingerMs, () => socket.destroy())
  return status
}

function brokenRequestError({ code, reason }: BrokenRequest): ServiceError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ServiceError(
      'headers_too_large',
      'URL and headers are over 32 KiB. Send long lists with POST /v1/<dataset>/query.',
    )
  }
  // After a space in the URL, Node parses the rest as the protocol's name.
  const isUrl = code === 'HPE_INVALID_URL' || reason?.startsWith('Expected HTTP/') === true
  return badRequest(
    isUrl
      ? 'The request is not valid HTTP: its URL holds a character that must be percent-encoded. ' +
          '"ИНН" is written %D0%98%D0%9D%D0%9D, a space %20; ' +
          'curl does it with -G --data-urlencode "ИНН=eq.7708004767".'
      : 'The request is not valid HTTP, or came too slowly.',
  )
}

/** An answer that has begun can't be interrupted by another; Node keeps the current one here. */
function isAnswering(socket: Socket & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent ?? false
}
