import type { Charges } from '../access/charge-queue.js'
import type { Cache } from '../cache.js'
import type { Clock } from '../clock.js'
import type { Engine, Rows, Summarized } from '../engine/engine.js'
import { resolveQuestion } from '../query/resolve-question.js'
import { resolveTop } from '../query/resolve-top.js'
import type { Resolved } from '../query/resolved.js'
import { resolveSummary } from '../query/summary/resolve-summary.js'
import { enterDataset, readOptions, turnOptions } from './caller.js'
import type { Caller, DatasetCaller, ResolvedRequest } from './caller.js'
import { describeVersions, oldestSeen, resolveChangesOf } from './changes.js'
import type { ChangesParts, VersionEntry } from './changes.js'
import { explainEmpty } from './empty-answer.js'
import type { EmptyReason } from './empty-answer.js'
import { entityTag, matchesTag } from './entity-tag.js'
import { answerHead } from './page.js'
import type {
  ChangesRequest,
  DataRequest,
  Page,
  PageAnswer,
  PageRequest,
  Payment,
  SummaryAnswer,
  SummaryRequest,
  TopRequest,
  WithoutData,
} from './page.js'
import { keptAnswer } from './paid/kept-answers.js'
import { payGroups, requireGroupsQuota } from './paid/paid-groups.js'
import { pageOf, readPaidRows } from './paid/paid-rows.js'
import type { WantedRows } from './paid/paid-rows.js'
import { openPayment } from './paid/payment.js'
import type { Ready } from './paid/payment.js'
import { readGroups } from './read-groups.js'

/** What the stages of a request for data work with. */
export interface PageParts {
  readonly charges: Charges
  readonly engine: Engine
  readonly cursorKey: Uint8Array
  readonly clock: Clock
}

/** What reads versions and their changes. */
interface ChangesOf {
  readonly changes: ChangesParts
}

/**
 * The whole story of a request for data, a line a stage, once `admit` has checked token and rate.
 * `README.md` lists the errors of each stage; the caller's `observe` receives what each finds out.
 */
async function answerData<Question extends ResolvedRequest, Answer>(
  { charges, cursorKey, clock }: PageParts,
  caller: Caller,
  request: DataRequest<unknown>,
  resolve: (reader: DatasetCaller) => Promise<Question>,
  send: (ready: Ready<Question>) => Promise<Answer>,
): Promise<WithoutData | Answer> {
  const reader = enterDataset(caller, request.dataset, clock.now())
  const resolved = await resolve(reader)
  caller.context.observe?.({ kind: 'question', resolved })
  const { access, key } = resolved
  const tag = entityTag(cursorKey, access, key, caller.principal)
  const head = answerHead(resolved, tag)
  if (matchesTag(request.knownTags, tag)) return { kind: 'unchanged', ...head }
  const open = () => openPayment(reader, charges, clock.now)
  const payment = request.paidAnswers?.payment(reader, tag, open) ?? open()
  if (request.checkOnly) return { kind: 'checked', ...head }
  return send({ reader, resolved, head, payment })
}

/** Rows in stored order. */
export function readPage(
  parts: PageParts,
  caller: Caller,
  request: PageRequest,
): Promise<PageAnswer> {
  let { explainEmpty } = request
  const resolve = ({ principal, access }: DatasetCaller) => {
    const raw = request.question()
    if (raw.explain !== undefined) explainEmpty = raw.explain ? 'paid' : undefined
    return resolveQuestion(access, principal.id, parts.cursorKey, raw, request.usualLimit)
  }
  return answerData(parts, caller, request, resolve, (ready) => {
    const { access, filters, format, question, cursorAfter } = ready.resolved
    const { columns, limit, after } = question
    const read: WantedRows['read'] = (rows, options) =>
      parts.engine.read({ ...question, limit: rows }, options)
    const wanted = { access, filters, format, columns, limit, read, cursorAfter, isStart: !after }
    return sendRows(parts, ready, wanted, { ...request, explainEmpty })
  })
}

/** The first rows by one column. */
export function readTop(
  parts: PageParts,
  kept: Cache<Rows>,
  caller: Caller,
  request: TopRequest,
): Promise<PageAnswer> {
  const resolve = ({ access }: DatasetCaller) =>
    resolveTop(access, request.question(), request.usualLimit)
  return answerData(parts, caller, request, resolve, (ready) => {
    const { access, filters, format, top } = ready.resolved
    const { tag } = ready.head
    const { columns, limit } = top
    const read: WantedRows['read'] = (rows, options) =>
      keptAnswer(kept, `${tag} ${rows}`, () => parts.engine.top({ ...top, limit: rows }, options))
    const wanted = { access, filters, format, columns, limit, read, cursorAfter: null }
    return sendRows(parts, ready, { ...wanted, needed: top.by, isStart: true }, request)
  })
}

/** What differs since a version, in the order of the key. */
export function readChanges(
  { changes, ...parts }: PageParts & ChangesOf,
  caller: Caller,
  request: ChangesRequest,
): Promise<PageAnswer> {
  const resolve = (reader: DatasetCaller) =>
    resolveChangesOf(changes, reader, parts.cursorKey, request.question(), request.usualLimit)
  return answerData(parts, caller, request, resolve, async (ready) => {
    const { access, filters, format, cursorAfter, question, columns: named } = ready.resolved
    const { columns, limit, after, sets } = question
    const read: WantedRows['read'] = async (rows, options) =>
      sets.length === 0
        ? { rows: [], hasMore: false }
        : changes.read({ ...question, limit: rows }, options)
    const wanted = { access, filters, format, columns, limit, read, cursorAfter }
    const page = await sendRows(parts, ready, { ...wanted, isStart: after === null }, request)
    const facts = { from: oldestSeen(access), version: access.version.id }
    return { ...page, facts: { ...facts, ...(named && { columns: named }) } }
  })
}

/** The versions of a dataset, newest first. */
export function listVersions(
  { changes, clock }: ChangesOf & Pick<PageParts, 'clock'>,
  caller: Caller,
  name: string,
): Promise<readonly VersionEntry[]> {
  return describeVersions(changes, enterDataset(caller, name, clock.now()).access)
}

/** Groups of rows. */
export function summarize(
  parts: PageParts,
  kept: Cache<Summarized>,
  caller: Caller,
  request: SummaryRequest,
): Promise<SummaryAnswer> {
  const resolve = ({ access }: DatasetCaller) => resolveSummary(access, request.question)
  return answerData(parts, caller, request, resolve, async (ready) => {
    const { reader, resolved } = ready
    requireGroupsQuota(ready)
    const options = readOptions(reader, resolved.access)
    const read = await readGroups(ready, kept, (asked) => parts.engine.summarize(asked, options))
    const { rowsMet, groups } = read.found
    reader.context.observe?.({ kind: 'summarized', rows: rowsMet, groups })
    return payGroups(ready, read, request.room)
  })
}

/** Reads, pays and sends rows; explains an empty first page where the door asks for that. */
async function sendRows(
  parts: PageParts,
  { reader, head, payment }: Ready<Resolved>,
  wanted: WantedRows,
  request: Pick<PageRequest, 'room' | 'explainEmpty'>,
): Promise<Page> {
  const paid = await readPaidRows(reader, wanted, payment, request.room)
  const isExplained = paid.isEmpty && wanted.isStart
  const explanation = isExplained
    ? await explain(parts, reader, wanted, payment, request.explainEmpty)
    : null
  return pageOf(head, wanted, paid, explanation, payment.cost())
}

/** Why no row meets the filters, where the door asks for that and it is known. */
async function explain(
  parts: PageParts,
  caller: Caller,
  { access, filters, needed }: WantedRows,
  payment: Payment,
  extent: PageRequest['explainEmpty'],
): Promise<EmptyReason | null> {
  if (!extent) return null
  const payRow = async (signal: AbortSignal) => (await payment.pay(1, true, signal)) === 1
  return explainEmpty(parts, access, filters, {
    ...turnOptions(caller),
    ...(needed && { needed }),
    payRow: extent === 'paid' ? payRow : null,
  })
}
