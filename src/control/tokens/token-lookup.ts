import { readsOf } from '../admission-reads.js'
import type { AdmissionReads } from '../admission-reads.js'
import { reportDamage } from '../store/store.js'
import { sql } from '../store/sql.js'
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
  readonly #read: AdmissionReads['token']
  #identity: string | null = null
  /** The highest count of tokens in this file so far. */
  #tokens = 0
  #checkedAt = -Infinity

  constructor(
    store: ControlStore,
    monotonicMs: () => number,
    read: AdmissionReads['token'] = readsOf(store).token,
  ) {
    this.#store = store
    this.#monotonicMs = monotonicMs
    this.#read = read
  }

  /**
   * The token with this hash, as `findToken` returns it.
   * @throws service_unavailable when the file can't be read, or is found damaged
   */
  async find(hash: Uint8Array): Promise<TokenRecord | undefined> {
    await this.#begin()
    const found = await this.#read(hash)
    if (found === undefined) await this.#requireAbsent(hash)
    return found
  }

  async #requireAbsent(hash: Uint8Array): Promise<void> {
    if (this.#store.file === null) return
    await this.#requireAll()
    const indexed = sql`SELECT 1 FROM tokens WHERE hash = ${hash}`
    const isStored = (await this.#store.all(indexed)).length > 0
    // It may have been issued meanwhile.
    if (isStored && (await findToken(this.#store, hash)) === undefined) {
      reportDamage(this.#store, 'a token without a subscription')
    }
    if (this.#monotonicMs() - this.#checkedAt < checkEveryMs) return
    await this.#checkThoroughly(hash)
    this.#checkedAt = this.#monotonicMs()
  }

  /** Others may count at the same time: what was known before this count can't have become less. */
  async #requireAll(): Promise<void> {
    const [known, identity] = [this.#tokens, this.#identity]
    const tokens = await this.#count()
    if (this.#identity !== identity) return
    if (tokens < known) reportDamage(this.#store, `${tokens} of ${known} tokens are left`)
    this.#tokens = Math.max(this.#tokens, tokens)
  }

  /** Checks the pages of all tokens, and searches for this one without the index. */
  async #checkThoroughly(hash: Uint8Array): Promise<void> {
    const [result] = await this.#store.all<{ found: string }>(
      sql`SELECT quick_check AS found FROM pragma_quick_check('tokens')`,
    )
    if (result?.found !== 'ok') reportDamage(this.#store, String(result?.found))
    const scanned = sql`SELECT 1 FROM tokens NOT INDEXED WHERE hash = ${hash}`
    if ((await this.#store.all(scanned)).length > 0) {
      reportDamage(this.#store, 'a token that has no index entry')
    }
  }

  /** Another file may hold fewer tokens. */
  async #begin(): Promise<void> {
    const identity = this.#store.file?.identity
    if (identity === undefined || identity === this.#identity) return
    const tokens = await this.#count()
    if (identity === this.#identity) return
    this.#identity = identity
    this.#tokens = tokens
  }

  /** Counts in the index on hashes (the second UNIQUE of the table), which `findToken` uses. */
  async #count(): Promise<number> {
    const [counted] = await this.#store.all<{ tokens: number }>(
      sql`SELECT count(*) AS tokens FROM tokens INDEXED BY sqlite_autoindex_tokens_2`,
    )
    return counted?.tokens ?? 0
  }
}
