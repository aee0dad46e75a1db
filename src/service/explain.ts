import { quotaStatus, usageNow } from '../access/allowance.js'
import { principalOf, unauthorized } from '../access/principal.js'
import type { Subscriber } from '../access/principal.js'
import { RateLimits } from '../access/rate-limits.js'
import type { Clock } from '../clock.js'
import type { Catalog } from '../catalog.js'
import { readsOf } from '../control/admission-reads.js'
import type { ControlStore } from '../control/store/store.js'
import { showSubscription } from '../control/subscriptions.js'
import type { Subscription } from '../control/subscriptions.js'
import { subscriptionEndText, tokenEnd } from '../control/tokens/token-state.js'
import { listTokens } from '../control/tokens/tokens.js'
import type { TokenSummary } from '../control/tokens/tokens.js'
import { chargeResult } from '../control/usage.js'
import type { Charge } from '../control/usage.js'
import type { Engine } from '../engine/engine.js'
import { ServiceError, asServiceError, errorStatus } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import { parseUrl } from '../query/parse-url.js'
import type { Question } from '../query/question.js'
import { parseSummaryUrl } from '../query/summary/parse-summary.js'
import { parseTopUrl } from '../query/parse-top.js'
import { readPage, readTop, summarize } from './answers.js'
import { isoTime } from '../text.js'
import { readOptions } from './caller.js'
import type { Caller, Observation, ResolvedRequest } from './caller.js'
import type { GroupsAnswer, Page } from './page.js'
import { answerCache } from './paid/kept-answers.js'
import {
  accessText,
  chargeText,
  emptyText,
  questionText,
  quotaText,
  readText,
  refusalText,
} from './explain-texts.js'
import type { QuestionPath } from './question-path.js'

const stageNames = ['token', 'rate', 'dataset', 'question', 'quota', 'read', 'charge'] as const

type StageName = (typeof stageNames)[number]

/** One stage of the decision, in words for the owner; may contain facts that callers never see. */
interface ExplainedStage {
  readonly stage: StageName
  readonly verdict: 'passed' | 'refused'
  readonly detail: string
}

/** The answer that the subscriber would get now, and the reasons. */
export interface Explanation {
  readonly stages: readonly ExplainedStage[]
  readonly answer: {
    readonly status: number
    /** Null for a page. */
    readonly error: ErrorCode | null
    /** The text for the caller; null for a page. */
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
  readonly clock: Clock
}

interface ExplainedCaller extends Caller {
  readonly principal: Subscriber
}

/**
 * Asks a question for a subscriber and reports the decision of each stage of the serving pipeline.
 * It reads the rows, but charges, counts and changes nothing.
 *
 * @throws not_found for an unknown subscription
 */
export async function explainAnswer(
  parts: ExplainParts,
  subscriptionId: string,
  path: QuestionPath,
): Promise<Explanation> {
  const { catalog, control } = parts
  const subscription = await showSubscription(control, subscriptionId)
  const observed: Observation[] = []
  let caller: ExplainedCaller | null = null
  try {
    caller = await callerOf(parts, subscription, (found) => observed.push(found))
    const answer = await answerTo(parts, caller, path)
    const hasMore = answer.kind === 'page' ? answer.hasMore : answer.truncated
    const charges = observed.flatMap((found) => (found.kind === 'charge' ? [found.charge] : []))
    return {
      stages: await stagesOf(parts.engine, caller, observed, answer),
      answer: { status: 200, error: null, detail: null, rows: charges.at(-1)?.paid ?? 0, hasMore },
    }
  } catch (cause) {
    const error = asServiceError(cause)
    const passed = await stagesOf(parts.engine, caller, observed, null)
    const stage = stageNames[passed.length] ?? 'charge'
    const detail =
      caller && stage === 'dataset'
        ? refusalText(caller.principal, catalog, path.dataset)
        : detailForOwner(error)
    return {
      stages: [...passed, { stage, verdict: 'refused', detail }],
      answer: { ...answerOf(error), rows: 0, hasMore: false },
    }
  }
}

/** Asks the serving pipeline, with charges that are only computed. */
async function answerTo(
  parts: ExplainParts,
  caller: Caller,
  { kind, dataset, query }: QuestionPath,
): Promise<Page | GroupsAnswer> {
  const charges = { charge: async (charge: Charge) => chargeResult(parts.control, charge) }
  const all = { ...parts, charges }
  const answer =
    kind === 'aggregate'
      ? await summarize(all, answerCache(), caller, {
          dataset,
          question: () => parseSummaryUrl(query),
        })
      : kind === 'top'
        ? await readTop(all, answerCache(), caller, {
            dataset,
            question: () => parseTopUrl(query),
            explainEmpty: 'free',
          })
        : await readPage(all, caller, {
            dataset,
            question: () => parseUrl(query),
            explainEmpty: 'paid',
          })
  if (answer.kind === 'page' || answer.kind === 'groups') return answer
  throw new TypeError('an explained request asks for a whole answer')
}

function answerOf({ code, detail }: ServiceError) {
  return { status: errorStatus[code], error: code, detail }
}

/** The cause of an error may reveal more than the caller may see. */
function detailForOwner({ cause, detail }: ServiceError): string {
  return cause instanceof Error ? cause.message : detail
}

/**
 * Finds the subscriber by the token that expires last. The store has only token hashes, and only
 * the server knows the request counts, so these two stages can't use the server's own.
 * @throws unauthorized, with the reason for the owner as its cause
 */
async function callerOf(
  { catalog, control, clock }: ExplainParts,
  subscription: Subscription,
  observe: (found: Observation) => void,
): Promise<ExplainedCaller> {
  const principal = await subscriberOf(control, subscription, clock.now())
  const usage = await usageNow(readsOf(control), principal, clock.now())
  const rates = RateLimits.inMemory(() => 0, control.random)
  const rate = await rates.take(principal, '', catalog, 1)
  const limits = { rate, quota: quotaStatus(principal, null, usage, clock.now()) }
  const { signal } = new AbortController()
  const context = { authorization: undefined, address: '', signal, observe }
  return { context, principal, catalog, usage, limits }
}

async function subscriberOf(
  control: ControlStore,
  subscription: Subscription,
  now: number,
): Promise<Subscriber> {
  const tokens = await listTokens(control, subscription.subscriptionId)
  const endOf = (token: TokenSummary) =>
    Math.min(token.expiresAt ?? Infinity, subscription.expiresAt)
  const alive = tokens.filter((token) => tokenEnd(token, now) === null)
  const [longest] = alive.sort((left, right) => endOf(right) - endOf(left))
  const end = subscriptionEndText(subscription, now)
  if (longest && end === null) {
    return principalOf({ ...subscription, expiresAt: endOf(longest) }, longest.tokenId)
  }
  const why =
    end === null ? 'the subscription has no live token: das token list' : `the subscription ${end}`
  const { code, detail } = unauthorized()
  throw new ServiceError(code, detail, { cause: new Error(why) })
}

/** The passed stages, in words. */
async function stagesOf(
  engine: Engine,
  caller: ExplainedCaller | null,
  observed: readonly Observation[],
  answer: Page | GroupsAnswer | null,
): Promise<readonly ExplainedStage[]> {
  if (!caller) return []
  const { rate } = caller.limits
  const stages: ExplainedStage[] = []
  const pass = (stage: StageName, detail: string) =>
    stages.push({ stage, verdict: 'passed', detail })
  pass('token', `live until ${isoTime(caller.principal.expiresAt)}`)
  pass('rate', `${rate.limit} requests a minute; only the server knows those made`)
  let question: ResolvedRequest | null = null
  const reason = answer?.kind === 'page' ? answer.explanation : null
  for (const found of observed) {
    switch (found.kind) {
      case 'dataset':
        pass(found.kind, accessText(found.access))
        break
      case 'question':
        question = found.resolved
        pass(found.kind, questionText(found.resolved))
        break
      case 'quota':
        pass(found.kind, quotaText(found.quota))
        break
      case 'read':
      case 'summarized':
        pass(
          'read',
          found.rows === 0 && question
            ? emptyText(await rowsBeyond(engine, caller, question), reason)
            : readText(found),
        )
        break
      case 'charge':
        pass(found.kind, chargeText(found.charge))
        break
      default:
      // For the log.
    }
  }
  return stages
}

/** Counts matching rows outside the plan's window; null if there is no time to count. */
async function rowsBeyond(
  engine: Engine,
  caller: Caller,
  resolved: ResolvedRequest,
): Promise<number | null> {
  const { access } = resolved
  const { version, predicates } = askedRows(resolved)
  const asked = predicates.filter((predicate) => !access.predicates.includes(predicate))
  try {
    return await engine.count(version, asked, readOptions(caller, access))
  } catch (cause) {
    if (asServiceError(cause).code === 'timeout') return null
    throw cause
  }
}

function askedRows(resolved: ResolvedRequest): Pick<Question, 'version' | 'predicates'> {
  if ('summary' in resolved) return resolved.summary
  return 'top' in resolved ? resolved.top : resolved.question
}
