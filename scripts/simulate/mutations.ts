import { ChargeQueue } from '../../src/access/charge-queue.js'
import type { Charge } from '../../src/control/usage.js'
import { WriteHealth } from '../../src/control/write-health.js'
import { TokenLookup } from '../../src/control/tokens/token-lookup.js'

/** Plants a fault, to prove that the simulation finds it; the result removes it. */
export const mutations = {
  'one row of each page is not charged': () => {
    const { charge } = ChargeQueue.prototype
    ChargeQueue.prototype.charge = async function paid(given: Charge, signal: AbortSignal) {
      const rows = Math.max(0, given.rows - 1)
      const result = await charge.call(this, { ...given, rows }, signal)
      return { ...result, granted: result.granted + given.rows - rows }
    }
    return () => {
      ChargeQueue.prototype.charge = charge
    }
  },
  'a revoked token works': () => {
    const { find } = TokenLookup.prototype
    TokenLookup.prototype.find = async function found(hash: Uint8Array) {
      const token = await find.call(this, hash)
      return token && { ...token, revokedAt: null }
    }
    return () => {
      TokenLookup.prototype.find = find
    }
  },
  'readyz is always ready': () => {
    const { isWritable } = WriteHealth.prototype
    WriteHealth.prototype.isWritable = () => Promise.resolve(true)
    return () => {
      WriteHealth.prototype.isWritable = isWritable
    }
  },
} as const satisfies Readonly<Record<string, () => () => void>>

export type Mutation = keyof typeof mutations
