/** Files that keep changing are opened anyway after this time. */
const settleMsMax = 10_000
/** A failure that may be temporary is retried after this time. */
const retryMs = 60_000

/** Decides when a dataset's files are opened: once a change has settled, and after a failure. */
export class UpdateAttempts {
  #seen: { readonly key: string; readonly since: number } | null = null
  #last: { readonly key: string; readonly retryAt: number } | null = null

  /** Whether this state of the disk was not opened yet, or is to be opened again. */
  isDue(key: string, now: number): boolean {
    return this.#last?.key !== key || now >= this.#last.retryAt
  }

  /** True if two calls in a row see the same state, or the files have changed for too long. */
  isSettled(key: string, now: number): boolean {
    const since = this.#seen?.since ?? now
    const isSettled = this.#seen?.key === key || now - since > settleMsMax
    this.#seen = isSettled ? null : { key, since }
    return isSettled
  }

  record(key: string, now: number, mayPass: boolean): void {
    this.#last = { key, retryAt: mayPass ? now + retryMs : Infinity }
  }

  /** Makes the next check open the files, whatever their state. */
  reset(): void {
    this.#last = null
  }
}
