import { ChargeQueue } from '../../src/access/charge-queue.js'
import type { Charge } from '../../src/control/usage.js'
import { WriteHealth } from '../../src/control/write-health.js'
import { TokenLookup } from '../../src/control/tokens/token-lookup.js'

/** Faults that are planted to prove that the simulation finds them. */
export const mutations = {
  'one row of each page is not charged': () => {
    const { charge } = ChargeQueue.prototype
    ChargeQueue.prototype.charge = async function paid(given: Charge, signal: AbortSignal) {
      const rows = Math.max(0, given.rows - 1)
      const result = await charge.call(this, { ...given, rows }, signal)
      return { ...result, granted: result.granted + given.rows - rows }
    }
  },
  'a revoked token works': () => {
    const { find } = TokenLookup.prototype
    TokenLookup.prototype.find = async function found(hash: Uint8Array) {
      const token = await find.call(this, hash)
      return token && { ...token, revokedAt: null }
    }
  },
  'readyz is always ready': () => {
    WriteHealth.prototype.isWritable = () => Promise.resolve(true)
  },
} as const satisfies Readonly<Record<string, () => void>>

export type Mutation = keyof typeof mutations
