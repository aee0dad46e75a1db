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
export interface Visit {
  readonly authorization: string | undefined
  /** The client's network address. */
  readonly address: string
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Filled in on the way: where the caller stands, for answers and errors alike. */
  rate?: RateStatus | undefined
  quota?: QuotaStatus | undefined
}

/** A visit of a known caller within their rate: what every request first becomes. */
export interface Guest {
  readonly visit: Visit
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
  readonly admit: (visit: Visit, requests: 0 | 1) => Guest
  /**
   * The same for a message whose cost is known once it is read: `spend` takes it then. The message
   * of a client that has sent as many as both its budgets hold is refused before it is read.
   * @throws unauthorized, rate_limit_exceeded
   */
  readonly admitMessage: (visit: Visit) => Guest
  /** @throws rate_limit_exceeded */
  readonly spend: (guest: Guest, budget: 'request' | 'free request') => void
  /**
   * A request that needs no token: one of the free requests of its address.
   * @throws rate_limit_exceeded
   */
  readonly admitVisitor: (address: string) => void
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

  function admit(visit: Visit, requests: 0 | 1): Guest {
    const current = catalog()
    const demoToken = current.demo?.token ?? null
    const principal = authenticate(visit.authorization, { tokens, demoToken, now })
    const rate = rates.take(principal, visit.address, current, requests)
    const usage = principal ? usageNow(control, principal, now()) : null
    if (principal) {
      visit.rate = rate
      visit.quota = quotaStatus(principal, null, usage, now())
    }
    requireRate(rate)
    if (!principal) throw unauthorized()
    if (principal.kind === 'subscriber') lastUsed.note(principal.tokenId)
    return { visit, principal, catalog: current, usage }
  }

  function admitMessage(visit: Visit): Guest {
    const guest = admit(visit, 0)
    requireRate(rates.overall(guest.principal, visit.address, guest.catalog))
    return guest
  }

  const spend: Admission['spend'] = ({ visit, principal, catalog: current }, budget) => {
    if (budget === 'free request') {
      requireRate(rates.takeFree(principal, visit.address))
      return
    }
    visit.rate = rates.take(principal, visit.address, current, 1)
    requireRate(visit.rate)
  }

  return {
    admit,
    admitMessage,
    spend,
    admitVisitor: (address) => {
      requireRate(rates.takeFree(undefined, address))
    },
  }
}
