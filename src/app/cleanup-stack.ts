interface Closable {
  readonly close: () => unknown
}

/** Closes resources in reverse order of opening; a failure does not stop the remaining closes. */
export class CleanupStack {
  readonly #closes: (() => unknown)[] = []
  #closed: Promise<void> | undefined

  /** Closes `opened` with its own method. Returns it. */
  use<T extends Closable>(opened: T): T {
    return this.adopt(opened, (each) => each.close())
  }

  /** Closes `opened` with `close`. Returns it. */
  adopt<T>(opened: T, close: (opened: T) => unknown): T {
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
