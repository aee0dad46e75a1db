import { networkOf } from '../../access/rate-limits.js'
import { Cache } from '../../cache.js'
import type { Clock } from '../../clock.js'
import type { Client } from './client.js'
import { readClientDocument } from './client-document.js'
import { fetchDocument } from './fetch-document.js'
import type { HostOptions } from '../public-host.js'
import { OAuthError } from './oauth-error.js'

/** A document is fetched again after this time. */
const freshMs = 5 * 60_000
/** One that can't be fetched again serves on for this time. */
const keptMs = 24 * 60 * 60_000
const keptMax = 1000
/** Documents that are fetched at once, for all visitors and for those of one network. */
const fetchesMax = 64
const fetchesOfNetworkMax = 4

interface KeptDocument {
  readonly client: Client
  readonly fetchedMs: number
}

interface RunningFetch {
  /** Of the visitor who asked first. */
  readonly network: string
  readonly client: Promise<Client>
}

interface DocumentsParts {
  readonly clock: Clock
  readonly fetch?: HostOptions
  /** Takes the reason why a document was not read; the client is not told. */
  readonly report: (cause: unknown) => void
}

/**
 * Reads and keeps the documents of clients: at most 1000, and at most 4 fetches at a time for a
 * network, so that slow sites of one visitor leave room for others. Failures are not kept.
 */
export class ClientDocuments {
  readonly #parts: DocumentsParts
  readonly #kept = new Cache<KeptDocument>(keptMax)
  readonly #running = new Map<string, RunningFetch>()

  constructor(parts: DocumentsParts) {
    this.#parts = parts
  }

  /**
   * The client whose document is at this URL, for a visitor from this network address.
   * @throws OAuthError temporarily_unavailable, invalid_client_metadata, invalid_redirect_uri
   */
  async find(url: URL, address: string): Promise<Client> {
    const kept = this.#kept.find(url.href)
    const ageMs = kept ? this.#parts.clock.monotonicMs() - kept.fetchedMs : Infinity
    if (kept && ageMs < freshMs) return kept.client
    try {
      return await this.#fetchOnce(url, networkOf(address))
    } catch (cause) {
      const isAnswered = cause instanceof OAuthError && cause.code !== 'temporarily_unavailable'
      if (!isAnswered && kept && ageMs < keptMs) return kept.client
      throw cause
    }
  }

  #fetchOnce(url: URL, network: string): Promise<Client> {
    const running = this.#running.get(url.href)
    if (running) return running.client
    const ofNetwork = [...this.#running.values()].filter((each) => each.network === network)
    const isFull = this.#running.size >= fetchesMax || ofNetwork.length >= fetchesOfNetworkMax
    if (isFull) throw unread(undefined)
    const client = this.#fetch(url).finally(() => this.#running.delete(url.href))
    this.#running.set(url.href, { network, client })
    return client
  }

  async #fetch(url: URL): Promise<Client> {
    const text = await fetchDocument(url, this.#parts.clock, this.#parts.fetch).catch(
      (cause: unknown) => {
        this.#parts.report(cause)
        throw unread(cause)
      },
    )
    const client = readClientDocument(url, text)
    this.#kept.keep(url.href, { client, fetchedMs: this.#parts.clock.monotonicMs() })
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
