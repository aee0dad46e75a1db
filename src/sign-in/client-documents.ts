import type { Clock } from '../clock.js'
import type { Client } from './client.js'
import { readClientDocument } from './client-document.js'
import { fetchDocument } from './fetch-document.js'
import type { FetchOptions } from './fetch-document.js'
import { OAuthError } from './oauth-error.js'

/** A document is fetched again after this time. */
const freshMs = 5 * 60_000
/** One that can't be fetched again serves on for this time. */
const keptMs = 24 * 60 * 60_000
const keptMax = 1000
const fetchesMax = 4

interface KeptDocument {
  readonly client: Client
  readonly fetchedMs: number
}

interface DocumentsParts {
  readonly clock: Clock
  readonly fetch?: FetchOptions
  /** Takes the reason why a document was not read; the client is not told. */
  readonly report: (cause: unknown) => void
}

/**
 * Reads and keeps the documents of clients: at most 4 fetches at a time, 1000 documents. Failures
 * are not kept.
 */
export class ClientDocuments {
  readonly #parts: DocumentsParts
  readonly #kept = new Map<string, KeptDocument>()
  readonly #running = new Map<string, Promise<Client>>()

  constructor(parts: DocumentsParts) {
    this.#parts = parts
  }

  /**
   * The client whose document is at this address.
   * @throws OAuthError temporarily_unavailable, invalid_client_metadata, invalid_redirect_uri
   */
  async find(url: URL): Promise<Client> {
    const kept = this.#kept.get(url.href)
    const ageMs = kept ? this.#parts.clock.monotonicMs() - kept.fetchedMs : Infinity
    if (kept && ageMs < freshMs) return kept.client
    try {
      return await this.#fetchOnce(url)
    } catch (cause) {
      const isAnswered = cause instanceof OAuthError && cause.code !== 'temporarily_unavailable'
      if (!isAnswered && kept && ageMs < keptMs) return kept.client
      throw cause
    }
  }

  #fetchOnce(url: URL): Promise<Client> {
    const running = this.#running.get(url.href)
    if (running) return running
    if (this.#running.size >= fetchesMax) throw unread(undefined)
    const fetching = this.#fetch(url).finally(() => this.#running.delete(url.href))
    this.#running.set(url.href, fetching)
    return fetching
  }

  async #fetch(url: URL): Promise<Client> {
    const text = await fetchDocument(url, this.#parts.clock, this.#parts.fetch).catch(
      (cause: unknown) => {
        this.#parts.report(cause)
        throw unread(cause)
      },
    )
    const client = readClientDocument(url, text)
    this.#kept.delete(url.href)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < keptMax) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(url.href, { client, fetchedMs: this.#parts.clock.monotonicMs() })
    return client
  }
}

function unread(cause: unknown): OAuthError {
  return new OAuthError(
    'temporarily_unavailable',
    "The client's document could not be read. Try again in a minute.",
    { cause },
  )
}
