import type { FastifyBaseLogger } from 'fastify'
import { asServiceError } from '../errors.js'
import type { Service } from '../service.js'

/** The failure of a dataset's guides that the log reported last. */
interface ReportedFailure {
  readonly reason: string
  /** How many attempts failed. */
  readonly failures: number
}

const reasonLettersMax = 200

/**
 * Makes the guides of all datasets before a caller requests them: at the start, and again when
 * something new is served. Logs a failure once, a new reason once, and its end.
 */
export class GuideWarmer {
  readonly #service: Service
  readonly #logger: FastifyBaseLogger
  readonly #failures = new Map<string, ReportedFailure>()
  #running = new AbortController()
  #latest: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(service: Service, logger: FastifyBaseLogger) {
    this.#service = service
    this.#logger = logger
  }

  /**
   * Starts over with the datasets that are served now; finished guides are kept. Ends with the last
   * start.
   */
  async start(): Promise<void> {
    this.#running.abort()
    if (this.#isClosed) return
    this.#running = new AbortController()
    const { signal } = this.#running
    this.#latest = this.#make(signal)
    let run
    while (run !== this.#latest) {
      run = this.#latest
      await run
    }
  }

  async #make(signal: AbortSignal): Promise<void> {
    const failed = new Set<string>()
    const isWhole = await this.#service.prepare(signal, ({ dataset, cause }) => {
      // One line for each dataset, even if several of its plans fail.
      if (!failed.has(dataset)) this.#noteFailure(dataset, reasonOf(cause))
      failed.add(dataset)
    })
    if (isWhole && !signal.aborted) this.#noteEnds(failed)
  }

  /** Stops making guides. */
  close(): void {
    this.#isClosed = true
    this.#running.abort()
  }

  #noteFailure(dataset: string, reason: string): void {
    const known = this.#failures.get(dataset)
    const failures = (known?.failures ?? 0) + 1
    this.#failures.set(dataset, { reason, failures })
    if (reason === known?.reason) return
    this.#logger.warn({ dataset, reason, failures }, 'the guide for agents failed')
  }

  #noteEnds(failed: ReadonlySet<string>): void {
    for (const [dataset, { failures }] of this.#failures) {
      if (failed.has(dataset)) continue
      this.#failures.delete(dataset)
      this.#logger.info({ dataset, failures }, 'the guide for agents works again')
    }
  }
}

/** One short line, without the SQL that DuckDB quotes on the next lines. */
function reasonOf(failure: unknown): string {
  const { code, detail, cause } = asServiceError(failure)
  const [words = ''] = (cause instanceof Error ? cause.message : detail).split('\n')
  return `${code}: ${words}`.slice(0, reasonLettersMax)
}
