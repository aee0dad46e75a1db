import type { Access } from '../access/access.js'

const entriesMax = 256

/** What was derived from the rows that an access sees, while version and window are the same. */
export class AccessCache<T> {
  readonly #entries = new Map<string, T>()

  /** The known value, or a new one that is kept; one that `keep` says no to is not. */
  async get(access: Access, make: () => Promise<T>, keep = (_: T) => true): Promise<T> {
    const key = `${access.dataset.name} ${access.version.id} ${access.key}`
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const made = await make()
    if (!keep(made)) return made
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= entriesMax && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(key, made)
    return made
  }
}
