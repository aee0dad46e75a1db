import type { FastifyRequest } from 'fastify'
import type { Principal } from '../access/principal.js'
import type { Observation, Refusal } from '../service/caller.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Use `recordOf`. */
    record: RequestRecord | null
  }
}

/** How a request ended. */
export type Outcome = 'ok' | 'client_gone' | Refusal

/** What becomes known of a request while it is answered, for its line in the log. */
export interface RequestRecord {
  principal: Principal | null
  tool: string | null
  /** A dataset that the caller may read. */
  dataset: string | null
  version: string | null
  /** Rows or groups that were paid and sent. */
  rows: number
  /** Rows counted against a quota. */
  charged: number
  queueMs: number
  engineMs: number
  /** Null until an error is known. */
  outcome: Outcome | null
  /** What the connection had sent before the answer. */
  bytesBefore: number
  isWritten: boolean
}

/** The record of a request; a new one at the first call. */
export function recordOf(request: FastifyRequest): RequestRecord {
  return (request.record ??= {
    principal: null,
    tool: null,
    dataset: null,
    version: null,
    rows: 0,
    charged: 0,
    queueMs: 0,
    engineMs: 0,
    outcome: null,
    bytesBefore: NaN,
    isWritten: false,
  })
}

/** Adds what a stage has found out. */
export function addToRecord(record: RequestRecord, found: Observation): void {
  switch (found.kind) {
    case 'principal':
      record.principal = found.principal
      break
    case 'tool':
      record.tool = found.name
      break
    case 'granted':
      record.dataset = found.dataset
      break
    case 'dataset':
      record.version = found.access.version.id
      break
    case 'question':
      record.version = found.resolved.access.version.id
      break
    case 'turn':
      record.queueMs += found.turn.waitedMs
      record.engineMs += found.turn.ranMs
      break
    case 'counted':
      record.charged += found.rows
      break
    case 'sent':
      record.rows += found.rows
      break
    case 'refusal':
      record.outcome ??= found.code
      break
    default:
    // Other stages have nothing for the log.
  }
}
