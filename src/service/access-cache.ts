import type { Access } from '../access/access.js'
import type { CacheUse } from './paid/kept-answers.js'

interface Entry<T> {
  readonly value: T
  readonly letters: number
}

/**
 * A cache of data that derives from rows, by dataset, version and window. It holds values up to a
 * total length; to make room, it drops those that were used the longest time ago.
 */
export class AccessCache<T> {
  readonly #lettersMax: number
  readonly #lettersOf: (value: T) => number
  /** The most recently used last. */
  readonly #entries = new Map<string, Entry<T>>()
  #letters = 0
  #hits = 0
  #misses = 0
  #isFull = false

  /** `lettersOf` is the length of a value as text. */
  constructor(lettersMax: number, lettersOf: (value: T) => number) {
    this.#lettersMax = lettersMax
    this.#lettersOf = lettersOf
  }

  /** Whether values had to be dropped since `retain` last made room. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Since the start, and the letters now as bytes. */
  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses, bytes: this.#letters }
  }

  /** Returns the cached value, or makes a new one and caches it if `keep` returns true. */
  async get(access: Access, make: () => Promise<T>, keep = (_: T) => true): Promise<T> {
    const key = keyOf(access)
    const known = this.#entries.get(key)
    if (known) {
      this.#hits += 1
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return known.value
    }
    this.#misses += 1
    const value = await make()
    if (keep(value)) this.#add(key, value)
    return value
  }

  /** Drops the values of all other accesses, whose versions or windows are gone. */
  retain(accesses: readonly Access[]): void {
    const wanted = new Set(accesses.map(keyOf))
    for (const key of this.#entries.keys()) {
      if (wanted.has(key)) continue
      this.#remove(key)
      this.#isFull = false
    }
  }

  #add(key: string, value: T): void {
    this.#remove(key)
    const letters = key.length + this.#lettersOf(value)
    this.#entries.set(key, { value, letters })
    this.#letters += letters
    for (const oldest of this.#entries.keys()) {
      if (this.#letters <= this.#lettersMax) break
      this.#remove(oldest)
      this.#isFull = true
    }
  }

  #remove(key: string): void {
    this.#letters -= this.#entries.get(key)?.letters ?? 0
    this.#entries.delete(key)
  }
}

function keyOf({ dataset, version, key }: Access): string {
  return `${dataset.name} ${version.id} ${key}`
}
