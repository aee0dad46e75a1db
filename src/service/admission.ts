import { quotaStatus, usageNow } from '../access/allowance.js'
import { authenticate, noSubscription, unauthorized } from '../access/principal.js'
import type { Authentication, Principal } from '../access/principal.js'
import { requireRate } from '../access/rate-limits.js'
import type { RateLimits } from '../access/rate-limits.js'
import type { Catalog } from '../catalog.js'
import type { Clock } from '../clock.js'
import { findSecret } from '../control/connections/secret-lookup.js'
import { findPageSecret } from '../control/sessions/page-secrets.js'
import type { AdmissionReads } from '../control/admission-reads.js'
import type { ControlStore } from '../control/store/store.js'
import type { LastUsed } from '../control/tokens/last-used.js'
import type { Caller, RequestContext } from './caller.js'

/** Admits every request, before its body is read. */
export interface Admission {
  /**
   * Checks the token, then takes this many requests from the caller's budget. Refuses the access
   * tokens of agents that signed in: those are for MCP. Accepts the secrets of pages.
   * @throws unauthorized, rate_limit_exceeded; service_unavailable, which takes none
   */
  readonly admit: (context: RequestContext, requests: 0 | 1) => Promise<Caller>
  /**
   * Does the same for a subscription whose token is not needed: a person of its address signed in.
   * @throws rate_limit_exceeded; service_unavailable, which takes none
   */
  readonly admitKnown: (
    context: RequestContext,
    principal: Principal,
    requests: 0 | 1,
  ) => Promise<Caller>
  /**
   * Does the same for what a subscription's holder owns: an agent that signed in is no stranger,
   * but finds nothing there.
   * @throws unauthorized, rate_limit_exceeded; not_found for an agent
   */
  readonly admitHolder: (context: RequestContext) => Promise<Caller>
  /**
   * Does the same for a message of MCP, whose cost is unknown until it is read; `spend` then takes
   * the cost. Accepts agents that signed in. A client that has used up both its budgets is refused
   * before its message is read.
   * @throws unauthorized, rate_limit_exceeded
   */
  readonly admitMessage: (context: RequestContext) => Promise<Caller>
  /**
   * Takes a request from one of the caller's budgets.
   * @throws rate_limit_exceeded
   */
  readonly spend: (caller: Caller, budget: 'request' | 'free request') => Promise<Caller>
  /**
   * Takes a free request from an address, for requests that need no token.
   * @throws rate_limit_exceeded
   */
  readonly admitAnonymous: (address: string) => void
}

interface AdmissionParts {
  readonly catalog: () => Catalog
  readonly control: ControlStore
  readonly reads: AdmissionReads
  readonly lastUsed: LastUsed
  readonly rates: RateLimits
  readonly clock: Clock
}

/** What a request is admitted with, besides tokens. */
type Accepted = Pick<Authentication, 'findSecret' | 'findPageSecret'>

/** Creates an admission with all counts at zero. */
export function createAdmission(parts: AdmissionParts): Admission {
  const { catalog, control, reads, lastUsed, rates, clock } = parts
  const { now } = clock
  const ofPages: Accepted = { findPageSecret: (hash) => findPageSecret(control, hash) }
  const ofAgents: Accepted = { findSecret: (hash) => findSecret(control, hash) }

  async function admit(
    context: RequestContext,
    requests: 0 | 1,
    accepted: Accepted,
  ): Promise<Caller> {
    const current = catalog()
    const demoToken = current.demo?.token ?? null
    const authentication = { findToken: reads.token, ...accepted, demoToken, now }
    const principal = await authenticate(context.authorization, authentication)
    if (principal) return await admitKnown(context, principal, requests, current)
    requireRate(await rates.take(principal, context.address, current, requests))
    throw unauthorized()
  }

  async function admitKnown(
    context: RequestContext,
    principal: Principal,
    requests: 0 | 1,
    current = catalog(),
  ): Promise<Caller> {
    const rate = await rates.take(principal, context.address, current, requests)
    context.observe?.({ kind: 'principal', principal })
    const usage = await usageNow(reads, principal, now())
    const limits = { rate, quota: quotaStatus(principal, null, usage, now()) }
    context.observe?.({ kind: 'limits', limits })
    requireRate(rate)
    noteUse(lastUsed, principal)
    return { context, principal, catalog: current, usage, limits }
  }

  return {
    admit: (context, requests) => admit(context, requests, ofPages),
    admitKnown: (context, principal, requests) => admitKnown(context, principal, requests),
    admitHolder: async (context) => {
      const caller = await admit(context, 1, { ...ofPages, ...ofAgents })
      if (caller.principal.connectionId !== undefined) throw noSubscription()
      return caller
    },
    admitMessage: async (context) => {
      const caller = await admit(context, 0, ofAgents)
      requireRate(await rates.overall(caller.principal, context.address, caller.catalog))
      return caller
    },
    spend: spending(rates),
    admitAnonymous: (address) => {
      requireRate(rates.takeVisit(address))
    },
  }
}

function spending(rates: RateLimits): Admission['spend'] {
  return async (caller, budget) => {
    const { context, principal } = caller
    if (budget === 'free request') {
      requireRate(await rates.takeFree(principal, context.address))
      return caller
    }
    const rate = await rates.take(principal, context.address, caller.catalog, 1)
    const limits = { ...caller.limits, rate }
    context.observe?.({ kind: 'limits', limits })
    requireRate(rate)
    return { ...caller, limits }
  }
}

function noteUse(lastUsed: LastUsed, principal: Principal): void {
  const { connectionId } = principal
  if (connectionId !== undefined) return lastUsed.note(connectionId)
  const id = principal.kind === 'subscriber' ? (principal.sessionId ?? principal.tokenId) : null
  if (id !== null) lastUsed.note(id)
}
