import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestContext } from '../service.js'
import type { Limits } from '../service/caller.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests that reach the service. */
    context: RequestContext | null
    /** What the caller has left, once it is known: headers of answers and errors alike. */
    limits: Limits | null
  }
}

/** A path below a dataset's own. */
export interface DatasetRoute {
  readonly Params: { readonly dataset: string }
}

/** A request as the service sees it; a client that hangs up aborts its signal. */
export function contextOf(request: FastifyRequest, reply: FastifyReply): RequestContext {
  const gone = new AbortController()
  const abort = () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client is gone'))
  }
  if (request.socket.destroyed) abort()
  reply.raw.once('close', abort)
  // A silent socket is closed (`connectionTimeout`), but while we make the answer, or a part of it,
  // we are the silent side: a dataset may allow its queries more time than that.
  reply.raw.on('timeout', () => {
    if (reply.raw.writableLength > 0) reply.raw.destroy()
  })
  const context: RequestContext = {
    authorization: request.headers.authorization,
    address: request.ip,
    signal: gone.signal,
    observe: (found) => {
      if (found.kind === 'limits') request.limits = found.limits
    },
  }
  request.context = context
  return context
}

/** What a known caller has left (contract 1.5); unlimited quotas are left out. */
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
