import { quotaStatus, usageNow } from '../access/allowance.js'
import { authenticate, unauthorized } from '../access/principal.js'
import { RateLimits, requireRate } from '../access/rate-limits.js'
import type { Catalog } from '../catalog.js'
import type { ControlStore } from '../control/store/store.js'
import type { LastUsed } from '../control/tokens/last-used.js'
import { TokenLookup } from '../control/tokens/token-lookup.js'
import type { Caller, RequestContext } from './caller.js'

/** Admits every request, before its body is read. */
export interface Admission {
  /**
   * Checks the token, then takes this many requests from the caller's budget.
   * @throws unauthorized, rate_limit_exceeded; service_unavailable, which takes none
   */
  readonly admit: (context: RequestContext, requests: 0 | 1) => Caller
  /**
   * Does the same for a message whose cost is unknown until it is read; `spend` then takes the
   * cost. A client that has used up both its budgets is refused before its message is read.
   * @throws unauthorized, rate_limit_exceeded
   */
  readonly admitMessage: (context: RequestContext) => Caller
  /**
   * Takes a request from one of the caller's budgets.
   * @throws rate_limit_exceeded
   */
  readonly spend: (caller: Caller, budget: 'request' | 'free request') => Caller
  /**
   * Takes a free request from an address, for requests that need no token.
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

/** Creates an admission with all counts at zero. */
export function createAdmission({ catalog, control, lastUsed, now }: AdmissionParts): Admission {
  const rates = new RateLimits(() => performance.now())
  const tokens = new TokenLookup(control, () => performance.now())

  function admit(context: RequestContext, requests: 0 | 1): Caller {
    const current = catalog()
    const demoToken = current.demo?.token ?? null
    const principal = authenticate(context.authorization, { tokens, demoToken, now })
    const rate = rates.take(principal, context.address, current, requests)
    if (!principal) {
      requireRate(rate)
      throw unauthorized()
    }
    context.observe?.({ kind: 'principal', principal })
    const usage = usageNow(control, principal, now())
    const limits = { rate, quota: quotaStatus(principal, null, usage, now()) }
    context.observe?.({ kind: 'limits', limits })
    requireRate(rate)
    if (principal.kind === 'subscriber') lastUsed.note(principal.tokenId)
    return { context, principal, catalog: current, usage, limits }
  }

  function spend(caller: Caller, budget: 'request' | 'free request'): Caller {
    const { context, principal } = caller
    if (budget === 'free request') {
      requireRate(rates.takeFree(principal, context.address))
      return caller
    }
    const rate = rates.take(principal, context.address, caller.catalog, 1)
    const limits = { ...caller.limits, rate }
    context.observe?.({ kind: 'limits', limits })
    requireRate(rate)
    return { ...caller, limits }
  }

  return {
    admit,
    admitMessage: (context) => {
      const caller = admit(context, 0)
      requireRate(rates.overall(caller.principal, context.address, caller.catalog))
      return caller
    },
    spend,
    admitAnonymous: (address) => {
      requireRate(rates.takeFree(undefined, address))
    },
  }
}
