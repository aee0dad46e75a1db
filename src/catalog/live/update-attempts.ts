/** Files that keep changing are opened all the same after this long. */
const settleMsMax = 10_000

/** Tells whether files are still being written to. */
export class Settling {
  #seen: { readonly key: string; readonly since: number } | null = null

  /** True when two calls in a row see the same, or patience is at its end. */
  isSettled(key: string, now: number): boolean {
    const seen = this.#seen
    const since = seen?.since ?? now
    const isSettled = seen?.key === key || now - since > settleMsMax
    this.#seen = isSettled ? null : { key, since }
    return isSettled
  }
}
