import { quotaStatus, usageNow } from '../access/allowance.js'
import type { QuotaStatus } from '../access/allowance.js'
import { authenticate, unauthorized } from '../access/principal.js'
import type { Principal } from '../access/principal.js'
import { RateLimits, requireRate } from '../access/rate-limits.js'
import type { RateStatus } from '../access/rate-limits.js'
import type { Catalog } from '../catalog.js'
import type { ControlStore } from '../control/store/store.js'
import type { LastUsed } from '../control/tokens/last-used.js'
import { TokenLookup } from '../control/tokens/token-lookup.js'
import type { Usage } from '../control/usage.js'

/** One request on its way through the service, whichever door it came in by. */
export interface RequestContext {
  readonly authorization: string | undefined
  /** The client's network address. */
  readonly address: string
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Filled in on the way: where the caller stands, for answers and errors alike. */
  rate?: RateStatus | undefined
  quota?: QuotaStatus | undefined
}

/** A known caller within their rate: what every request first becomes. */
export interface Caller {
  readonly context: RequestContext
  readonly principal: Principal
  /** The catalog of this moment, for the whole request. */
  readonly catalog: Catalog
  /** The rows used before the request; null where nothing is counted. */
  readonly usage: Usage | null
}

/** What every request goes through first. None of it needs the request's body. */
export interface Admission {
  /**
   * Token, then rate. It takes this many requests from the caller's budget.
   * @throws unauthorized, rate_limit_exceeded; service_unavailable, which takes none
   */
  readonly admit: (context: RequestContext, requests: 0 | 1) => Caller
  /**
   * The same for a message whose cost is known once it is read: `spend` takes it then. The message
   * of a client that has sent as many as both its budgets hold is refused before it is read.
   * @throws unauthorized, rate_limit_exceeded
   */
  readonly admitMessage: (context: RequestContext) => Caller
  /** @throws rate_limit_exceeded */
  readonly spend: (caller: Caller, budget: 'request' | 'free request') => void
  /**
   * A request that needs no token: one of the free requests of its address.
   * @throws rate_limit_exceeded
   */
  readonly admitAnonymous: (address: string) => void
}

interface AdmissionParts {
  readonly catalog: () => Catalog
  readonly control: ControlStore
  readonly lastUsed: LastUsed
  readonly now: () => number
}

/** An admission with counts of its own: they begin at nothing. */
export function createAdmission({ catalog, control, lastUsed, now }: AdmissionParts): Admission {
  const rates = new RateLimits(() => performance.now())
  const tokens = new TokenLookup(control, () => performance.now())

  function admit(context: RequestContext, requests: 0 | 1): Caller {
    const current = catalog()
    const demoToken = current.demo?.token ?? null
    const principal = authenticate(context.authorization, { tokens, demoToken, now })
    const rate = rates.take(principal, context.address, current, requests)
    const usage = principal ? usageNow(control, principal, now()) : null
    if (principal) {
      context.rate = rate
      context.quota = quotaStatus(principal, null, usage, now())
    }
    requireRate(rate)
    if (!principal) throw unauthorized()
    if (principal.kind === 'subscriber') lastUsed.note(principal.tokenId)
    return { context, principal, catalog: current, usage }
  }

  function admitMessage(context: RequestContext): Caller {
    const caller = admit(context, 0)
    requireRate(rates.overall(caller.principal, context.address, caller.catalog))
    return caller
  }

  const spend: Admission['spend'] = ({ context, principal, catalog: current }, budget) => {
    if (budget === 'free request') {
      requireRate(rates.takeFree(principal, context.address))
      return
    }
    context.rate = rates.take(principal, context.address, current, 1)
    requireRate(context.rate)
  }

  return {
    admit,
    admitMessage,
    spend,
    admitAnonymous: (address) => {
      requireRate(rates.takeFree(undefined, address))
    },
  }
}
