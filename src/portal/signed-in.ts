import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Subscriber } from '../access/principal.js'
import type { SignedIn } from '../access/signed-in.js'
import type { Caller } from '../service.js'

/**
 * What pages that are rendered on the server know of people who signed in. A page that shows rows
 * for pay asks `context.person`, which is null for visitors, and admits the payer; without
 * one it shows `payerForm`, which is null if there is nothing to choose:
 *
 *     const payer = context.person?.payer
 *     const caller = payer ? await site.signedIn.admit(request, reply, payer) : await asVisitor(…)
 *
 * `caller` then has the grants, the quota and the rate of the subscription, as with its token, and
 * goes to `service.readPage`, `top`, `summarize` and `find`, which charge it.
 */
export interface SignedInParts {
  /** False without a mail server: then nobody can sign in. */
  readonly isOpen: boolean
  /** Who is signed in, by the cookie of a request; null for visitors, for whom nothing is read. */
  readonly find: (request: FastifyRequest) => Promise<SignedIn | null>
  /**
   * Takes one request from the rate of the subscription.
   * @throws rate_limit_exceeded, service_unavailable
   */
  readonly admit: (
    request: FastifyRequest,
    reply: FastifyReply,
    payer: Subscriber,
  ) => Promise<Caller>
}
