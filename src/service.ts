import { accessibleDatasets } from './access/access.js'
import type { Charges } from './access/charge-queue.js'
import type { RateLimits } from './access/rate-limits.js'
import type { Cache, CacheUse } from './cache.js'
import type { Catalog } from './catalog.js'
import type { Clock } from './clock.js'
import type { AdmissionReads } from './control/admission-reads.js'
import type { ControlStore } from './control/store/store.js'
import type { LastUsed } from './control/tokens/last-used.js'
import type { Engine, Rows, Summarized } from './engine/engine.js'
import type { SchemaQuestion } from './query/parse-schema-url.js'
import { resolveQuestion } from './query/resolve-question.js'
import { resolveSummary } from './query/summary/resolve-summary.js'
import { resolveTop } from './query/resolve-top.js'
import { describeAccount } from './service/account.js'
import type { AccountDescription } from './service/account.js'
import { createAdmission } from './service/admission.js'
import type { Admission } from './service/admission.js'
import { enterDataset, readOptions, turnOptions } from './service/caller.js'
import type { Caller, DatasetCaller, RequestContext, ResolvedRequest } from './service/caller.js'
import { endOwnConnection, ownConnections } from './service/own-connections.js'
import type { OwnConnection } from './service/own-connections.js'
import { Descriptions } from './service/descriptions.js'
import type { DatasetDescription, DatasetSummary } from './service/descriptions.js'
import { describeVersions, oldestSeen, resolveChangesOf } from './service/changes.js'
import type { ChangesParts, VersionEntry } from './service/changes.js'
import { explainEmpty } from './service/empty-answer.js'
import type { EmptyReason } from './service/empty-answer.js'
import { entityTag, matchesTag } from './service/entity-tag.js'
import { OpenExports } from './service/export.js'
import type { Export } from './service/export.js'
import { findEntities } from './service/find.js'
import type { Find, NameFinder } from './service/find.js'
import { withFacts } from './service/column-facts.js'
import type { DatasetFacts } from './service/column-facts.js'
import { Guides } from './service/guides.js'
import type { DatasetGuide, GuideFailure } from './service/guides.js'
import { answerCache, keptAnswer } from './service/paid/kept-answers.js'
import { answerHead } from './service/page.js'
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
} from './service/page.js'
import { readGroups } from './service/read-groups.js'
import { payGroups, requireGroupsQuota } from './service/paid/paid-groups.js'
import { pageOf, readPaidRows } from './service/paid/paid-rows.js'
import type { WantedRows } from './service/paid/paid-rows.js'
import { openPayment } from './service/paid/payment.js'
import type { Ready, Resolved } from './service/paid/payment.js'
import { referenceFor } from './service/reference.js'
import type { Reference } from './service/reference.js'
import { showcaseOf } from './service/showcase.js'
import type { Language } from './config.js'
import type { Showcase } from './service/showcase.js'

export type { Caller, RequestContext } from './service/caller.js'

export interface Service extends Admission {
  readonly readPage: (caller: Caller, request: PageRequest) => Promise<PageAnswer>
  /** The first rows by one column, charged like a page. */
  readonly top: (caller: Caller, request: TopRequest) => Promise<PageAnswer>
  /** What differs since a version, charged like a page. */
  readonly changes: (caller: Caller, request: ChangesRequest) => Promise<PageAnswer>
  /** The versions of a dataset, newest first. */
  readonly listVersions: (caller: Caller, name: string) => Promise<readonly VersionEntry[]>
  /** Groups of rows, each for the price of at least the rows that carry as many cells. */
  readonly summarize: (caller: Caller, request: SummaryRequest) => Promise<SummaryAnswer>
  /** Every row of the question. Each page is admitted again, without a cost in requests. */
  readonly exportPages: (caller: Caller, request: PageRequest) => Promise<Export<Page>>
  readonly listDatasets: (caller: Caller) => Promise<readonly DatasetSummary[]>
  readonly describeDataset: (caller: Caller, name: string) => Promise<DatasetDescription>
  /** The description plus what is known of each column's values; it costs no rows. */
  readonly describeFacts: (
    caller: Caller,
    name: string,
    labels: SchemaQuestion['labels'],
  ) => Promise<DatasetFacts>
  /** The description plus what an agent needs: values, ranges, example rows, calls that work. */
  readonly guideDataset: (caller: Caller, name: string) => Promise<DatasetGuide>
  /** Entities by key or name. */
  readonly find: Find
  readonly account: (caller: Caller) => Promise<AccountDescription>
  /** The agents of the caller's subscription, newest first. @throws not_found for the demo token */
  readonly connections: (caller: Caller) => Promise<readonly OwnConnection[]>
  /** Ends one of them. @throws not_found for any other */
  readonly endConnection: (caller: Caller, connectionId: string) => Promise<void>
  /** The public offer: it needs no token and reads no data. */
  readonly showcase: (language: Language) => Showcase
  /** The datasets of the OpenAPI document: the token's, or the listed ones without a token. */
  readonly reference: (context: RequestContext) => Promise<Reference>
  /** How the caches are used. */
  readonly cacheUse: () => Readonly<Record<'tops' | 'summaries' | 'guides', CacheUse>>
  /**
   * Makes the guides for every plan ahead of the first caller; `report` receives failures. False if
   * not all were tried.
   */
  readonly prepare: (
    signal: AbortSignal,
    report: (failure: GuideFailure) => void,
  ) => Promise<boolean>
}

/** What the stages of a request for data work with. */
export interface PageParts {
  readonly charges: Charges
  readonly engine: Engine
  readonly cursorKey: Uint8Array
  readonly clock: Clock
}

export interface ServiceParts extends PageParts {
  /** The catalog of this moment; taken once a request. */
  readonly catalog: () => Catalog
  readonly control: ControlStore
  readonly reads: AdmissionReads
  readonly lastUsed: LastUsed
  readonly rates: RateLimits
  readonly names: NameFinder
  readonly changes: ChangesParts
}

/** Everything that REST, MCP and the portal offer. */
export function createService(parts: ServiceParts): Service {
  const { control, engine, clock } = parts
  const admission = createAdmission(parts)
  const descriptions = new Descriptions(engine)
  const guides = new Guides(engine, descriptions, clock)
  const openExports = new OpenExports()
  const [keptTops, keptSummaries] = [answerCache<Rows>(), answerCache<Summarized>()]
  return Object.freeze<Service>({
    ...admission,
    readPage: (caller, request) => readPage(parts, caller, request),
    top: (caller, request) => readTop(parts, keptTops, caller, request),
    changes: (caller, request) => readChanges(parts, caller, request),
    listVersions: (...asked) => listVersions(parts, ...asked),
    summarize: (caller, request) => summarize(parts, keptSummaries, caller, request),
    exportPages: (caller, request) =>
      openExports.open(caller.principal.id, caller.context.signal, async (from) => {
        const reader = from === null ? caller : await admission.admit(caller.context, 0)
        const question = () => ({ ...request.question(), ...from })
        const page = await readPage(parts, reader, { ...request, question, usualLimit: Infinity })
        if (page.kind !== 'page') throw new TypeError('an export asks for whole pages')
        return page
      }),
    listDatasets: async (caller) => {
      const summaries: DatasetSummary[] = []
      for (const access of accessibleDatasets(caller.principal, caller.catalog)) {
        summaries.push(await descriptions.summary(access, readOptions(caller, access)))
      }
      return summaries
    },
    describeDataset: async (caller, name) => {
      const { access } = enterDataset(caller, name, clock.now())
      return descriptions.description(access, readOptions(caller, access))
    },
    describeFacts: async (caller, name, labels) => {
      const { access } = enterDataset(caller, name, clock.now())
      const options = readOptions(caller, access)
      const description = await descriptions.description(access, options)
      return withFacts(access, description, await guides.guide(access, options), labels)
    },
    guideDataset: async (caller, name) => {
      const { access } = enterDataset(caller, name, clock.now())
      return guides.guide(access, readOptions(caller, access))
    },
    find: (...asked) => findEntities(parts, ...asked),
    account: async ({ principal, catalog, limits }) =>
      describeAccount(control, principal, catalog, limits.rate, clock.now()),
    connections: ({ principal }) => ownConnections(control, principal, clock.now()),
    endConnection: ({ principal }, id) => endOwnConnection(control, principal, id, clock.now()),
    showcase: (language) => showcaseOf(parts.catalog(), language),
    reference: async (context) => {
      const caller = context.authorization === undefined ? null : await admission.admit(context, 1)
      if (!caller) admission.admitAnonymous(context.address)
      const catalog = caller?.catalog ?? parts.catalog()
      return referenceFor(caller?.principal ?? null, catalog, descriptions, context.signal)
    },
    cacheUse: () => ({ tops: keptTops.use, summaries: keptSummaries.use, guides: guides.cacheUse }),
    prepare: (signal, report) => guides.prepare(parts.catalog(), signal, report),
  })
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
  const { engine, cursorKey } = parts
  const resolve = ({ principal, access }: DatasetCaller) =>
    resolveQuestion(access, principal.id, cursorKey, request.question(), request.usualLimit)
  return answerData(parts, caller, request, resolve, (ready) => {
    const { access, filters, format, question, cursorAfter } = ready.resolved
    const { columns, limit, after } = question
    const read: WantedRows['read'] = (rows, options) =>
      engine.read({ ...question, limit: rows }, options)
    const wanted = { access, filters, format, columns, limit, read, cursorAfter }
    return sendRows(parts, ready, { ...wanted, isStart: after === null }, request)
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
function readChanges(
  { changes, ...parts }: PageParts & Pick<ServiceParts, 'changes'>,
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

function listVersions(
  { changes, clock }: Pick<ServiceParts, 'changes' | 'clock'>,
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
