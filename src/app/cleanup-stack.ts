type Close = () => unknown

/** What was opened, to be closed in reverse, whatever fails on the way. */
export class CleanupStack {
  readonly #closes: Close[] = []
  #closed: Promise<void> | undefined

  /** Returns what was opened, once it is known how to close it. */
  add<T>(opened: T, close: (opened: T) => unknown): T {
    this.#closes.push(() => close(opened))
    return opened
  }

  /** Closes everything once; a second call waits for the first. @throws the first failure */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (const close of this.#closes.reverse()) {
      try {
        await close()
      } catch (cause) {
        failures.push(cause)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
