import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SeenRequest } from '../control/server-report.js'
import { badRequest } from '../errors.js'
import type { RequestContext } from '../service.js'
import type { Limits } from '../service/caller.js'
import { addToRecord, recordOf } from './request-record.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests that reach the service. */
    context: RequestContext | null
    /** The caller's limits, once known: for the headers of answers and errors. */
    limits: Limits | null
    /** The `WWW-Authenticate` of a refused token, where it is not the same as everywhere. */
    challenge: string | null
  }
}

/** The methods of what is only read. */
export const reading = ['GET', 'HEAD']

/** A path below a dataset's path. */
export interface DatasetRoute {
  readonly Params: { readonly dataset: string }
}

/** The raw query string of a request, without `?`. */
export function queryOf({ raw: { url = '' } }: FastifyRequest): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}

/** @throws bad_request for any parameter */
export function requireNoQuery(request: FastifyRequest): void {
  if (queryOf(request) !== '') throw badRequest('This path takes no parameters.')
}

/** The request context for the service; its signal aborts when the client disconnects. */
export function contextOf(request: FastifyRequest, reply: FastifyReply): RequestContext {
  const record = recordOf(request)
  const gone = new AbortController()
  const abort = () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client is gone'))
  }
  if (request.socket.destroyed) abort()
  reply.raw.once('close', abort)
  // `connectionTimeout` closes an idle socket. While the server prepares data, the server is the
  // idle side: a dataset's queries may take longer than that timeout.
  reply.raw.on('timeout', () => {
    if (reply.raw.writableLength > 0) reply.raw.destroy()
  })
  const context: RequestContext = {
    authorization: request.headers.authorization,
    address: request.ip,
    signal: gone.signal,
    observe: (found) => {
      if (found.kind === 'limits') request.limits = found.limits
      else addToRecord(record, found)
    },
  }
  request.context = context
  return context
}

/** A request as it arrived, for `das doctor`. */
export function seenRequest({ ip, socket, headers }: FastifyRequest): SeenRequest {
  return {
    address: textOf(ip),
    peer: socket.remoteAddress ?? null,
    peerPort: socket.remotePort ?? null,
    host: headers.host ?? null,
    forwardedFor: textOf(headers['x-forwarded-for']),
    forwardedProto: textOf(headers['x-forwarded-proto']),
  }
}

/** The type of Fastify leaves out that a closed socket has no address. */
function textOf(value: string | readonly string[] | undefined): string | null {
  return value === undefined ? null : String(value)
}

/** The headers of a known caller's limits (contract 1.5); omits unlimited quotas. */
export function limitHeaders({ rate, quota }: Limits): Readonly<Record<string, string>> {
  return {
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(rate.resetSeconds),
    ...(quota && {
      'X-Quota-Rows-Limit': String(quota.limit),
      'X-Quota-Rows-Remaining': String(quota.remaining),
      'X-Quota-Scope': quota.scope,
    }),
  }
}
