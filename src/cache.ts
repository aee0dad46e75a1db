interface Entry<T> {
  readonly value: T
  readonly size: number
}

/** How a cache is used. */
export interface CacheUse {
  readonly hits: number
  readonly misses: number
  readonly bytes: number
}

/**
 * Keeps values up to a total size. To make room, it drops those that were used the longest time
 * ago.
 */
export class Cache<T> {
  readonly #sizeMax: number
  readonly #sizeOf: (value: T, key: string) => number
  /** The most recently used last. */
  readonly #entries = new Map<string, Entry<T>>()
  #size = 0
  #hits = 0
  #misses = 0
  #isFull = false

  /** By default `sizeMax` is a number of values. */
  constructor(sizeMax: number, sizeOf: (value: T, key: string) => number = () => 1) {
    this.#sizeMax = sizeMax
    this.#sizeOf = sizeOf
  }

  /** Whether values had to be dropped since `retain` last made room. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Since the start, and the size now. */
  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses, bytes: this.#size }
  }

  find(key: string): T | undefined {
    const known = this.#entries.get(key)
    if (known) {
      this.#hits += 1
      this.#entries.delete(key)
      this.#entries.set(key, known)
    } else this.#misses += 1
    return known?.value
  }

  keep(key: string, value: T): void {
    this.#drop(key)
    const size = this.#sizeOf(value, key)
    this.#entries.set(key, { value, size })
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#sizeMax) break
      this.#drop(oldest)
      this.#isFull = true
    }
  }

  /** Returns the kept value, or makes one and keeps it if `isKept` says so. */
  async get(key: string, make: () => Promise<T>, isKept = (_: T) => true): Promise<T> {
    const known = this.find(key)
    if (known !== undefined) return known
    const value = await make()
    if (isKept(value)) this.keep(key, value)
    return value
  }

  /** Drops all values but those of these keys. */
  retain(keys: readonly string[]): void {
    const wanted = new Set(keys)
    for (const key of this.#entries.keys()) {
      if (wanted.has(key)) continue
      this.#drop(key)
      this.#isFull = false
    }
  }

  #drop(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}
