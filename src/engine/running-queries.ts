import { stopping, withController } from './deadline.js'

/** The queries of an engine that run or wait, which a stop ends. */
export class RunningQueries {
  /** By what stops each; null once stopped. */
  #running: Map<AbortController, Promise<unknown>> | null = new Map()

  /**
   * Runs work until it ends or is stopped. `failureOf` makes the caller's error of another failure.
   * @throws service_unavailable when stopped; the signal's reason when it aborts
   */
  run<T>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    failureOf: (cause: unknown) => unknown,
  ): Promise<T> {
    return withController(signal, async (stop) => {
      const running = this.#running
      if (!running) throw stopping()
      const result = work(stop.signal)
      running.set(stop, result)
      try {
        return await result
      } catch (cause) {
        throw stop.signal.aborted ? stop.signal.reason : failureOf(cause)
      } finally {
        running.delete(stop)
      }
    })
  }

  /** Stops all, and takes no more. */
  async stop(): Promise<void> {
    const running = this.#running ?? new Map<AbortController, Promise<unknown>>()
    this.#running = null
    for (const stop of running.keys()) stop.abort(stopping())
    await Promise.allSettled(running.values())
  }
}
