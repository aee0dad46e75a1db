import { authorize } from '../access/access.js'
import type { Access } from '../access/access.js'
import { quotaStatus, requireQuota, usageNow } from '../access/allowance.js'
import { principalOf, unauthorized } from '../access/principal.js'
import type { Subscriber } from '../access/principal.js'
import { planRate } from '../access/rate-limits.js'
import type { Catalog } from '../catalog.js'
import type { ControlStore } from '../control/store/store.js'
import { showSubscription } from '../control/subscriptions.js'
import type { Subscription } from '../control/subscriptions.js'
import { holdsToken, tokenInUrlText } from '../control/tokens/token-format.js'
import { isAlive, listTokens } from '../control/tokens/tokens.js'
import type { TokenSummary } from '../control/tokens/tokens.js'
import { withDeadline } from '../engine/deadline.js'
import type { Engine } from '../engine/engine.js'
import { ServiceError, asServiceError, badRequest, errorStatus } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import { parseUrl } from '../query/parse-url.js'
import { resolveQuestion } from '../query/resolve-question.js'
import type { ResolvedQuestion } from '../query/resolve-question.js'
import { isoTime } from './account.js'
import { explainEmpty } from './empty-answer.js'
import {
  accessText,
  chargeText,
  endedText,
  questionText,
  quotaText,
  refusalText,
  rowsText,
} from './explain-texts.js'

const stageNames = ['token', 'rate', 'dataset', 'question', 'quota', 'read', 'charge'] as const

/** One stage of the decision, in words for the owner: they may hold what a caller never hears. */
interface ExplainedStage {
  readonly stage: (typeof stageNames)[number]
  readonly verdict: 'passed' | 'refused'
  readonly detail: string
}

/** What the subscriber would be answered now, and why. */
export interface Explanation {
  readonly stages: readonly ExplainedStage[]
  readonly answer: {
    readonly status: number
    /** Null for a page. */
    readonly error: ErrorCode | null
    /** What the caller reads; null for a page. */
    readonly detail: string | null
    /** Rows that would be sent and charged. */
    readonly rows: number
    readonly hasMore: boolean
  }
}

export interface ExplainParts {
  readonly catalog: Catalog
  readonly control: ControlStore
  readonly engine: Engine
  readonly cursorKey: Uint8Array
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Replays the decision on a question to a dataset, stage by stage, with the very functions that
 * serve it. The rows are read; nothing is charged, counted or changed.
 *
 * @throws not_found for an unknown subscription
 */
export async function explainAnswer(
  parts: ExplainParts,
  subscriptionId: string,
  path: QuestionPath,
): Promise<Explanation> {
  const subscription = showSubscription(parts.control, subscriptionId)
  const stages: ExplainedStage[] = []
  const pass = (detail: string) => {
    const stage = stageNames[stages.length]
    if (stage) stages.push({ stage, verdict: 'passed', detail })
  }
  try {
    const { rows, hasMore } = await replay(parts, subscription, path, pass)
    return { stages, answer: { status: 200, error: null, detail: null, rows, hasMore } }
  } catch (cause) {
    const error = asServiceError(cause)
    const { code, detail } = error
    const stage = stageNames[stages.length] ?? 'charge'
    const why = error.cause instanceof Error ? error.cause.message : detail
    stages.push({ stage, verdict: 'refused', detail: why })
    const answer = { status: errorStatus[code], error: code, detail, rows: 0, hasMore: false }
    return { stages, answer }
  }
}

/** A question to a dataset, as its URL has it. */
export interface QuestionPath {
  readonly dataset: string
  readonly query: string
}

/**
 * The path of a URL, with or without the server's address.
 * @throws bad_request for anything but a question for rows
 */
export function readQuestionPath(url: string): QuestionPath {
  if (holdsToken(url)) throw badRequest(tokenInUrlText)
  const found = /^(?:https?:\/\/[^/?#]*)?\/v1\/([^/?#]+)\/?(?:\?([^#]*))?$/.exec(url)
  const [, segment = '', query = ''] = found ?? []
  const dataset = decodedSegment(segment)
  if (dataset !== '' && dataset !== 'account') return { dataset, query }
  throw badRequest(
    'Give the URL of a question for rows, as /v1/DATASET?COLUMN=eq.VALUE, in quotes.',
  )
}

/** Empty where it is no percent-encoding. */
function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/** The stages of `service.ts`, in its order, each told to `pass` once it is passed. */
async function replay(
  parts: ExplainParts,
  subscription: Subscription,
  { dataset, query }: QuestionPath,
  pass: (detail: string) => void,
): Promise<{ readonly rows: number; readonly hasMore: boolean }> {
  const { catalog, control, cursorKey, now } = parts
  const principal = admit(control, subscription, now())
  pass(`live until ${isoTime(principal.expiresAt)}`)
  pass(`${planRate(principal, catalog)} requests a minute; only the server knows those made`)
  const access = enter(principal, catalog, dataset)
  pass(accessText(access))
  const asked = resolveQuestion(access, principal.id, cursorKey, parseUrl(query))
  pass(questionText(asked))
  const quota = quotaStatus(principal, access, usageNow(control, principal, now()), now())
  requireQuota(quota)
  pass(quotaText(quota))
  const options = { signal: new AbortController().signal, client: principal.id }
  const { rows, hasMore } = await withDeadline(access.dataset.timeoutMs, options.signal, (signal) =>
    parts.engine.read(asked.question, { ...options, signal }),
  )
  pass(rows.length > 0 ? rowsText(rows.length, hasMore) : await whyEmpty(parts, access, asked))
  const paid = Math.min(rows.length, quota?.remaining ?? Infinity)
  pass(chargeText(rows.length, paid, quota))
  return { rows: paid, hasMore: hasMore || paid < rows.length }
}

/** The subscriber by the token that works longest. @throws unauthorized, its cause the owner's reason */
function admit(control: ControlStore, subscription: Subscription, now: number): Subscriber {
  const tokens = listTokens(control, subscription.subscriptionId)
  const endOf = (token: TokenSummary) =>
    Math.min(token.expiresAt ?? Infinity, subscription.expiresAt)
  const alive = tokens.filter((token) => isAlive(token, now))
  const [longest] = alive.sort((left, right) => endOf(right) - endOf(left))
  const reason = endedText(subscription, now)
  if (longest && reason === null) {
    return principalOf({ ...subscription, expiresAt: endOf(longest) }, longest.tokenId)
  }
  throw because(
    unauthorized(),
    reason ?? `none of its ${tokens.length} tokens works: das token list`,
  )
}

/** @throws what the caller is told, with the owner's reason as its cause */
function enter(principal: Subscriber, catalog: Catalog, name: string): Access {
  try {
    return authorize(principal, catalog, name)
  } catch (cause) {
    throw because(asServiceError(cause), refusalText(principal, catalog, name))
  }
}

/** The caller's error, with a reason that the caller never hears. */
function because({ code, detail }: ServiceError, reason: string): ServiceError {
  return new ServiceError(code, detail, { cause: new Error(reason) })
}

/** What emptied the page, and whether it was the plan's window. */
async function whyEmpty(
  { engine }: ExplainParts,
  access: Access,
  { question, filters }: ResolvedQuestion,
): Promise<string> {
  const { signal } = new AbortController()
  const options = { signal, client: 'explain', payRow: () => Promise.resolve(true) }
  const { predicates, version } = question
  const own = predicates.filter((predicate) => !access.predicates.includes(predicate))
  const beyond = await withDeadline(access.dataset.timeoutMs, signal, (limited) =>
    engine.count(version, own, { ...options, signal: limited }),
  )
  const window =
    beyond === 0
      ? 'the dataset holds no such row, whatever the plan'
      : `rows that meet the filters: ${beyond}, all of them outside the plan's window`
  const hint = await explainEmpty(engine, access, filters, options)
  if (!hint) return `no row; ${window}`
  return `no row; ${window}. An agent is told${hint.isPaid ? ', for one row' : ''}: ${hint.text}`
}
