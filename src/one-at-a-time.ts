/** Does pieces of work one after another, in the order in which they were asked for. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  /** Begins `work` when all earlier pieces have ended or failed; resolves to its result. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }
}
