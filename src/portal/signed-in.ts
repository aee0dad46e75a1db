import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Subscriber } from '../access/principal.js'
import type { Subscription } from '../control/subscriptions.js'
import type { Caller } from '../service.js'

/** A person who proved an address by a mailed code, in this browser. */
export interface SignedIn {
  readonly sessionId: string
  readonly email: string
  /** The live subscriptions of the address, oldest first, each with its plan for each dataset. */
  readonly subscriptions: readonly Subscription[]
  /**
   * The subscription whose rows and requests pages take: the only live one, or the one that the
   * person chose. Null without a subscription, or while none of several is chosen: then show
   * `payerForm`.
   */
  readonly payer: Subscriber | null
}

/**
 * What pages that are rendered on the server know of people who signed in. A page that shows rows
 * for pay asks `context.person`, which is null for visitors, and admits the payer:
 *
 *     const payer = context.person?.payer
 *     const caller = payer ? await site.signedIn.admit(request, reply, payer) : await asVisitor(…)
 *
 * `caller` then has the grants, the quota and the rate of the subscription, as with its token, and
 * goes to `service.readPage`, `top`, `summarize` and `find`, which charge it.
 */
export interface SignedInParts {
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
