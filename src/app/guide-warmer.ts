import type { FastifyBaseLogger } from 'fastify'
import { asServiceError } from '../errors.js'
import type { Service } from '../service.js'

/** A dataset whose guides can't be made, as the log has it. */
interface Trouble {
  readonly reason: string
  /** How often it was tried. */
  readonly failures: number
}

const reasonLettersMax = 200

/**
 * Makes the guides of what is served before a caller asks for them: at the start, and again
 * whenever something else is served. A dataset whose guides fail is one line in the log when that
 * begins, when the reason changes, and when it ends.
 */
export class GuideWarmer {
  readonly #service: Service
  readonly #logger: FastifyBaseLogger
  readonly #troubles = new Map<string, Trouble>()
  #making = new AbortController()
  #isClosed = false

  constructor(service: Service, logger: FastifyBaseLogger) {
    this.#service = service
    this.#logger = logger
  }

  /** Begins again with what is served now; those made already are not made again. */
  async begin(): Promise<void> {
    this.#making.abort()
    if (this.#isClosed) return
    this.#making = new AbortController()
    const { signal } = this.#making
    const failed = new Set<string>()
    await this.#service.prepare(signal, ({ dataset, cause }) => {
      // The first plan that fails speaks for all of them.
      if (!failed.has(dataset)) this.#noteFailure(dataset, reasonOf(cause))
      failed.add(dataset)
    })
    if (!signal.aborted) this.#noteEnds(failed)
  }

  /** Ends early. */
  close(): void {
    this.#isClosed = true
    this.#making.abort()
  }

  #noteFailure(dataset: string, reason: string): void {
    const known = this.#troubles.get(dataset)
    const failures = (known?.failures ?? 0) + 1
    this.#troubles.set(dataset, { reason, failures })
    if (reason === known?.reason) return
    this.#logger.warn({ dataset, reason, failures }, 'no guide for agents yet')
  }

  #noteEnds(failed: ReadonlySet<string>): void {
    for (const [dataset, { failures }] of this.#troubles) {
      if (failed.has(dataset)) continue
      this.#troubles.delete(dataset)
      this.#logger.info({ dataset, failures }, 'guides for agents no longer fail')
    }
  }
}

/** In one short line, without the SQL that DuckDB quotes on the lines that follow. */
function reasonOf(failure: unknown): string {
  const { code, detail, cause } = asServiceError(failure)
  const [words = ''] = (cause instanceof Error ? cause.message : detail).split('\n')
  return `${code}: ${words}`.slice(0, reasonLettersMax)
}
