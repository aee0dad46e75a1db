import { authorize } from '../access/access.js'
import type { Access } from '../access/access.js'
import { quotaStatus } from '../access/allowance.js'
import type { QuotaStatus } from '../access/allowance.js'
import type { Principal } from '../access/principal.js'
import type { RateStatus } from '../access/rate-limits.js'
import type { Catalog } from '../catalog.js'
import type { Usage } from '../control/usage.js'
import { timeLimit } from '../engine/deadline.js'
import type { ReadOptions, TurnTimes } from '../engine/engine.js'
import type { ErrorCode } from '../errors.js'
import type { ResolvedChanges } from '../query/resolve-changes.js'
import type { ResolvedQuestion } from '../query/resolve-question.js'
import type { ResolvedSummary } from '../query/summary/resolve-summary.js'
import type { ResolvedTop } from '../query/resolve-top.js'

/** One request in the service's form, from REST or MCP. */
export interface RequestContext {
  readonly authorization: string | undefined
  /** The client's network address. */
  readonly address: string
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Receives the results of each stage. */
  readonly observe?: (found: Observation) => void
}

/** A question of any kind within the caller's access. */
export type ResolvedRequest = ResolvedQuestion | ResolvedTop | ResolvedSummary | ResolvedChanges

/**
 * `limits` is sent on each change, also before a refusal. `turn` is sent when a query of the engine
 * ends, `refusal` for an error that the answer's status does not show, `tool` if the body names it,
 * the others when a stage passes.
 */
export type Observation =
  | { readonly kind: 'principal'; readonly principal: Principal }
  | { readonly kind: 'limits'; readonly limits: Limits }
  /** The caller may read the dataset, but it may be unavailable. */
  | { readonly kind: 'granted'; readonly dataset: string }
  | { readonly kind: 'dataset'; readonly access: Access }
  | { readonly kind: 'question'; readonly resolved: ResolvedRequest }
  | { readonly kind: 'quota'; readonly quota: QuotaStatus | undefined }
  | { readonly kind: 'read'; readonly rows: number; readonly hasMore: boolean }
  | { readonly kind: 'summarized'; readonly rows: number; readonly groups: number }
  | { readonly kind: 'charge'; readonly charge: ObservedCharge }
  | { readonly kind: 'turn'; readonly turn: TurnTimes }
  /** Rows counted against a quota. */
  | { readonly kind: 'counted'; readonly rows: number }
  /** Paid rows or groups of the answer. */
  | { readonly kind: 'sent'; readonly rows: number }
  | { readonly kind: 'refusal'; readonly code: Refusal }
  | { readonly kind: 'tool'; readonly name: string }

/** `protocol_error` is an error of JSON-RPC that has no code of this service. */
export type Refusal = ErrorCode | 'protocol_error'

export interface ObservedCharge {
  /** Rows of the page; `paid` counts the paid ones. */
  readonly rows: number
  readonly paid: number
  /** After the charge. */
  readonly quota: QuotaStatus | undefined
}

/** The remaining limits of a known caller. */
export interface Limits {
  readonly rate: RateStatus
  /** Undefined if no rows are counted. */
  readonly quota: QuotaStatus | undefined
}

/** A known caller within the rate limit: every request starts with one. */
export interface Caller {
  readonly context: RequestContext
  readonly principal: Principal
  /** The catalog at the start of the request, used for the whole request. */
  readonly catalog: Catalog
  /** The rows used before the request; null if none are counted. */
  readonly usage: Usage | null
  readonly limits: Limits
}

/** A caller with access to one dataset; the limits apply to that dataset. */
export interface DatasetCaller extends Caller {
  readonly access: Access
}

/**
 * Gives a caller access to a dataset.
 * @throws not_found for an unknown or a forbidden name; service_unavailable
 */
export function enterDataset(caller: Caller, name: string, now: number): DatasetCaller {
  const { context, principal, catalog, usage, limits } = caller
  const access = authorize(principal, catalog, name, () => {
    context.observe?.({ kind: 'granted', dataset: name })
  })
  const quota = quotaStatus(principal, access, usage, now)
  const entered = { ...caller, access, limits: { ...limits, quota } }
  context.observe?.({ kind: 'limits', limits: entered.limits })
  context.observe?.({ kind: 'dataset', access })
  return entered
}

/** Engine options for a caller's work on a dataset, with the dataset's time limit. */
export function readOptions({ context, principal }: Caller, { dataset }: Access): ReadOptions {
  return { ...turnOptions({ context, principal }), timeLimit: timeLimit(dataset.timeoutMs) }
}

/** Engine options for a caller's work that has no time limit of its own. */
export function turnOptions({
  context: { signal, observe },
  principal,
}: Pick<Caller, 'context' | 'principal'>): ReadOptions {
  const options = { signal, client: principal.id }
  return observe ? { ...options, onTurn: (turn) => observe({ kind: 'turn', turn }) } : options
}
