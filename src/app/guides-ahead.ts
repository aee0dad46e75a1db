import type { FastifyBaseLogger } from 'fastify'
import type { Service } from '../service.js'

/**
 * Makes the guides of what is served before somebody asks for them: at the start, and anew
 * whenever something else is served.
 */
export class GuidesAhead {
  readonly #service: Service
  readonly #logger: FastifyBaseLogger
  #making = new AbortController()
  #isClosed = false

  constructor(service: Service, logger: FastifyBaseLogger) {
    this.#service = service
    this.#logger = logger
  }

  /** Begins anew with what is served now; those made already are not made again. */
  begin(): Promise<void> {
    this.#making.abort()
    if (this.#isClosed) return Promise.resolve()
    this.#making = new AbortController()
    return this.#service.prepare(this.#making.signal, ({ dataset, cause }) => {
      this.#logger.warn({ dataset, err: cause }, 'no guide for agents yet')
    })
  }

  /** Ends early. */
  close(): void {
    this.#isClosed = true
    this.#making.abort()
  }
}
