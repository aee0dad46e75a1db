import type { Access } from '../access/access.js'

const entriesMax = 256

/** A cache of data that derives from rows, by dataset, version and window. */
export class AccessCache<T> {
  readonly #entries = new Map<string, T>()

  /** Returns the cached value, or makes a new one and caches it if `keep` returns true. */
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
