import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorStatus } from '../../../errors.js'
import type { ErrorCode, ServiceError } from '../../../errors.js'
import { OAuthError } from '../oauth-error.js'
import { noteError, sendError } from '../../../http/error-answers.js'
import { recordOf } from '../../../http/request-record.js'

/** What the log calls an error of OAuth, by its status. */
const outcomes: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  503: 'service_unavailable',
}

/**
 * Sends an error as OAuth's clients read it: `{error, error_description}`. A fault of this server
 * is never `invalid_grant`, after which a client would give up its connection.
 */
export function sendOAuthError(cause: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (cause instanceof OAuthError) {
    recordOf(request).outcome = outcomes[cause.status] ?? 'bad_request'
    sendBody(reply.code(cause.status), cause.code, cause.description)
    return
  }
  const error = noteError(cause, request, reply)
  if (error === null) return
  switch (error.code) {
    case 'not_found':
    case 'method_not_allowed':
      sendError(error, request, reply)
      break
    case 'internal_error':
      sendBody(reply.code(errorStatus.service_unavailable), faultCode, error.detail)
      break
    default:
      sendBody(reply.code(errorStatus[error.code]), oauthCode(error), error.detail)
  }
}

const faultCode = 'temporarily_unavailable'

function oauthCode({ code }: ServiceError): string {
  const isLater = code === 'service_unavailable' || code === 'rate_limit_exceeded'
  return isLater ? faultCode : 'invalid_request'
}

function sendBody(reply: FastifyReply, error: string, description: string): void {
  void reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error, error_description: description }))
}
