import { Counter, Histogram, Registry } from 'prom-client'
import type { OnSync } from '../control/charge-store.js'
import type { LetterState } from '../control/letters.js'
import type { OnRequest, RequestLine } from '../http/request-log.js'
import type { OnReload } from './log-changes.js'

const requestSeconds = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]
const syncSeconds = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]

/** What the parts of a server call, for what is counted. */
export interface MetricHooks {
  readonly onRequest: OnRequest
  readonly onSync: OnSync
  readonly onReload: OnReload
  readonly onWithdrawn: (dataset: string) => void
  readonly onAttempt: (end: LetterState) => void
}

const ignore = () => undefined

/** For a server that counts nothing. */
export const uncounted: MetricHooks = {
  onRequest: ignore,
  onSync: ignore,
  onReload: ignore,
  onWithdrawn: ignore,
  onAttempt: ignore,
}

/**
 * What is counted while the server runs, for Prometheus. A label holds only names of this program
 * and of served datasets: a client can't make new series.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests = this.#counter(
    'das_requests_total',
    'Requests by door, dataset (empty if none was reached) and outcome.',
    ['door', 'dataset', 'outcome'],
  )

  readonly #faults = this.#counter(
    'das_faults_total',
    'Requests that ended with internal_error, by door.',
    ['door'],
  )

  readonly #duration = this.#histogram(
    'das_request_duration_seconds',
    'Time of requests, until the last byte of the answer was sent.',
    requestSeconds,
    ['door'],
  )

  readonly #queueWait = this.#histogram(
    'das_queue_wait_seconds',
    'Time that requests for a dataset waited for the engine.',
    requestSeconds,
  )

  readonly #engine = this.#histogram(
    'das_engine_duration_seconds',
    'Time that requests for a dataset held a slot of the engine.',
    requestSeconds,
  )

  readonly #engineUse = this.#counter(
    'das_engine_seconds_total',
    'Time that requests held a slot of the engine, by dataset.',
    ['dataset'],
  )

  readonly #rows = this.#counter('das_rows_sent_total', 'Rows and groups sent, by dataset.', [
    'dataset',
  ])

  readonly #charged = this.#counter(
    'das_rows_charged_total',
    'Rows counted against quotas, by dataset.',
    ['dataset'],
  )

  readonly #bytes = this.#counter('das_sent_bytes_total', 'Bytes of answers with their headers.', [
    'door',
  ])

  readonly #syncs = this.#histogram(
    'das_charge_sync_seconds',
    'Time to make charges durable, on the disk or in the PostgreSQL.',
    syncSeconds,
  )

  readonly #syncFailures = this.#counter(
    'das_charge_sync_failures_total',
    'Failed attempts to make charges durable.',
  )

  readonly #reloads = this.#counter(
    'das_reloads_total',
    'Changed files of a dataset that were served or refused.',
    ['dataset', 'result'],
  )

  readonly #withdrawals = this.#counter(
    'das_withdrawals_total',
    'Versions and forms withdrawn because a stored file had changed.',
    ['dataset'],
  )

  readonly #letters = this.#counter(
    'das_letter_attempts_total',
    'Attempts to send a letter, by the state of the letter afterwards.',
    ['state'],
  )

  /** Alerts watch the growth of these: it starts at zero. */
  constructor() {
    for (const door of ['rest', 'mcp', 'portal', 'docs']) this.#faults.inc({ door }, 0)
    for (const state of ['sent', 'waiting', 'failed', 'dropped']) this.#letters.inc({ state }, 0)
  }

  readonly hooks: MetricHooks = {
    onRequest: (line) => this.#countRequest(line),
    onSync: (ms, isDone) => {
      if (isDone) this.#syncs.observe(ms / 1000)
      else this.#syncFailures.inc()
    },
    onReload: (dataset, result) => this.#reloads.inc({ dataset, result }),
    onWithdrawn: (dataset) => this.#withdrawals.inc({ dataset }),
    onAttempt: (state) => this.#letters.inc({ state }),
  }

  #countRequest({ door, dataset = '', outcome, ...line }: RequestLine): void {
    this.#requests.inc({ door, dataset, outcome })
    if (outcome === 'internal_error') this.#faults.inc({ door })
    this.#duration.observe({ door }, line.totalMs / 1000)
    if (line.bytes !== undefined) this.#bytes.inc({ door }, line.bytes)
    if (dataset === '') return
    this.#queueWait.observe(line.queueMs / 1000)
    this.#engine.observe(line.engineMs / 1000)
    this.#engineUse.inc({ dataset }, line.engineMs / 1000)
    this.#rows.inc({ dataset }, line.rows)
    this.#charged.inc({ dataset }, line.charged)
  }

  #counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.registry] })
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    const registers = [this.registry]
    const options = { name, help, registers, buckets: [...buckets] }
    return new Histogram({ ...options, labelNames: [...labelNames] })
  }
}
