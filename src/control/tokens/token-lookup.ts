import { damage } from '../store/failures.js'
import type { ControlStore } from '../store/store.js'
import { findToken } from './tokens.js'
import type { TokenRecord } from './tokens.js'

/** The shortest time between two thorough checks: one takes 10 ms with 30,000 tokens. */
const checkEveryMs = 1000

/**
 * Finds tokens. Guarantees that a stored token does not look unknown because the file is damaged: a
 * page that SQLite reads as empty hides tokens without an error. So a missing token is searched for
 * in other ways. Tokens are never deleted: their number can't fall.
 */
export class TokenLookup {
  readonly #store: ControlStore
  readonly #monotonicMs: () => number
  #identity: string | null = null
  /** The highest count of tokens in this file so far. */
  #tokens = 0
  #checkedAt = -Infinity

  constructor(store: ControlStore, monotonicMs: () => number) {
    this.#store = store
    this.#monotonicMs = monotonicMs
    this.#begin()
  }

  /**
   * The token with this hash, as `findToken` returns it.
   * @throws service_unavailable when the file can't be read, or is found damaged
   */
  find(hash: Uint8Array): TokenRecord | undefined {
    const found = findToken(this.#store, hash)
    if (found === undefined) this.#requireAbsent(hash)
    return found
  }

  #requireAbsent(hash: Uint8Array): void {
    if (this.#store.identity !== this.#identity) this.#begin()
    const tokens = this.#count()
    if (tokens < this.#tokens) this.#fail(`${tokens} of ${this.#tokens} tokens are left`)
    this.#tokens = tokens
    const indexed = 'SELECT 1 FROM tokens WHERE hash = @hash'
    if (this.#store.all(indexed, { hash }).length > 0) this.#fail('a token without a subscription')
    if (this.#monotonicMs() - this.#checkedAt < checkEveryMs) return
    this.#checkThoroughly(hash)
    this.#checkedAt = this.#monotonicMs()
  }

  /** Checks the pages of all tokens, and searches for this one without the index. */
  #checkThoroughly(hash: Uint8Array): void {
    const [result] = this.#store.all<{ found: string }>(
      "SELECT quick_check AS found FROM pragma_quick_check('tokens')",
    )
    if (result?.found !== 'ok') this.#fail(String(result?.found))
    const scanned = 'SELECT 1 FROM tokens NOT INDEXED WHERE hash = @hash'
    if (this.#store.all(scanned, { hash }).length > 0) this.#fail('a token that has no index entry')
  }

  /** Another file may hold fewer tokens. */
  #begin(): void {
    this.#identity = this.#store.identity
    this.#tokens = this.#count()
  }

  /** Counts in the index on hashes (the second UNIQUE of the table), which `findToken` uses. */
  #count(): number {
    const [counted] = this.#store.all<{ tokens: number }>(
      'SELECT count(*) AS tokens FROM tokens INDEXED BY sqlite_autoindex_tokens_2',
    )
    return counted?.tokens ?? 0
  }

  #fail(found: string): never {
    return this.#store.reportDamage(damage(found))
  }
}
