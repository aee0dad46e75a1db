/** How a script came to its end. */
export type Ending = 'passed' | 'failed' | 'stopped'

type Close = (ending: Ending) => Promise<unknown>

/** What a script must close or remove, however it ends. */
export class Cleanup {
  readonly #closers = new Set<Close>()
  readonly #stopping = new AbortController()
  #closing: Promise<void> | null = null

  /** Aborts when the script is stopped. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** Registers how to close something; the function returned forgets it again. */
  add(close: Close): () => void {
    this.#closers.add(close)
    return () => this.#closers.delete(close)
  }

  /** Closes everything once, the newest first. */
  closeAll(ending: Ending = 'passed'): Promise<void> {
    if (ending === 'stopped') this.#stopping.abort(new Error('stopped'))
    this.#closing ??= this.#close(ending)
    return this.#closing
  }

  async #close(ending: Ending): Promise<void> {
    for (let close = [...this.#closers].at(-1); close; close = [...this.#closers].at(-1)) {
      this.#closers.delete(close)
      await close(ending)
    }
  }
}
