import { accessibleDatasets, authorize, possibleAccesses } from './access/access.js'
import type { Access } from './access/access.js'
import { chargeRows, quotaStatus, requireQuota } from './access/allowance.js'
import type { ChargeManner } from './access/allowance.js'
import type { Charges } from './access/charge-queue.js'
import type { Catalog } from './catalog.js'
import type { ControlStore } from './control/store/store.js'
import type { LastUsed } from './control/tokens/last-used.js'
import { timeLimit } from './engine/deadline.js'
import type { Engine, ReadOptions } from './engine/engine.js'
import { isLong } from './query/raw-question.js'
import { resolveQuestion, resolveInTurns } from './query/resolve-question.js'
import type { ResolvedQuestion } from './query/resolve-question.js'
import { describeAccount } from './service/account.js'
import type { AccountDescription } from './service/account.js'
import { createAdmission } from './service/admission.js'
import type { Admission, Caller, RequestContext } from './service/admission.js'
import { Descriptions } from './service/descriptions.js'
import type { DatasetDescription, DatasetSummary } from './service/descriptions.js'
import { explainEmpty } from './service/empty-answer.js'
import { entityTag, matchesTag } from './service/entity-tag.js'
import { OpenExports } from './service/export.js'
import type { Export } from './service/export.js'
import { Guides } from './service/guides.js'
import type { DatasetGuide } from './service/guides.js'
import type { Page, PageAnswer, PageRequest } from './service/page.js'
import { payFile, payRows } from './service/paid-rows.js'
import type { PaidReading } from './service/paid-rows.js'
import { referenceFor } from './service/reference.js'
import type { Reference } from './service/reference.js'
import { showcaseOf } from './service/showcase.js'
import type { Showcase } from './service/showcase.js'

export type { Caller, RequestContext } from './service/admission.js'

export interface Service extends Admission {
  readonly readPage: (caller: Caller, request: PageRequest) => Promise<PageAnswer>
  /** Every row of the question. Each page is a new one of the same visitor, save for the rate. */
  readonly exportPages: (caller: Caller, request: PageRequest) => Promise<Export<Page>>
  readonly listDatasets: (caller: Caller) => Promise<readonly DatasetSummary[]>
  readonly describeDataset: (caller: Caller, name: string) => Promise<DatasetDescription>
  /** The description with what an agent needs besides: values, ranges, rows, calls that work. */
  readonly guideDataset: (caller: Caller, name: string) => Promise<DatasetGuide>
  readonly account: (caller: Caller) => Promise<AccountDescription>
  /** What is offered, for anybody: no token is asked for, none of the data is read. */
  readonly showcase: () => Showcase
  /** What the API reference shows: a token's datasets, or the listed ones where none is sent. */
  readonly reference: (context: RequestContext) => Promise<Reference>
  /**
   * Makes the guides of all datasets for every plan, which runs their example calls, ahead of the
   * first caller. One that fails is told to `report` and made when it is asked for.
   */
  readonly prepare: (signal: AbortSignal, report: (failure: GuideFailure) => void) => Promise<void>
}

interface GuideFailure {
  readonly dataset: string
  readonly cause: unknown
}

export interface ServiceParts {
  /** The catalog of this moment; taken once a request. */
  readonly catalog: () => Catalog
  readonly control: ControlStore
  readonly charges: Charges
  readonly lastUsed: LastUsed
  readonly engine: Engine
  readonly cursorKey: Uint8Array
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Nobody waits for what is made ahead. */
const preparePatienceMs = 30_000

/** The whole story of a request, a line a stage; `README.md` says what each stage may refuse. */
export function createService(parts: ServiceParts): Service {
  const { control, charges, engine, cursorKey, now } = parts
  const admission = createAdmission(parts)
  const { admit } = admission
  const descriptions = new Descriptions(engine)
  const guides = new Guides(engine, descriptions)
  const openExports = new OpenExports()

  /** A dataset by name, as the caller may see it; their quota is then the one for it. */
  function enter({ context, principal, catalog, usage }: Caller, dataset: string): Access {
    const access = authorize(principal, catalog, dataset)
    context.quota = quotaStatus(principal, access, usage, now())
    return access
  }

  async function readPage(caller: Caller, request: PageRequest): Promise<PageAnswer> {
    const { context, principal } = caller
    const newest = enter(caller, request.dataset)
    const raw = request.question()
    const { usualLimit } = request
    const asked = isLong(raw)
      ? await resolveInTurns(newest, principal.id, cursorKey, raw, usualLimit)
      : resolveQuestion(newest, principal.id, cursorKey, raw, usualLimit)
    const { access, format } = asked
    const { version } = access
    const tag = entityTag(cursorKey, version, access, asked.key, principal)
    if (matchesTag(request.knownTags, tag)) return { kind: 'unchanged', version, tag, format }
    requireQuota(context.quota)
    if (request.checkOnly) return { kind: 'checked', version, tag, format }
    const columns = asked.question.columns.map(({ name }) => name)
    const reading = paidReading(caller, asked)
    const { limit, after } = asked.question
    const { rows, hasMore, sent, paid, cut } =
      format === 'parquet'
        ? await payFile(reading, limit)
        : await payRows(reading, limit, columns, request.room)
    const last = hasMore || cut !== null ? rows[paid - 1] : undefined
    const isEmpty = rows.length === 0 && after === null
    return {
      kind: 'page',
      version,
      tag: cut === null ? tag : null,
      format,
      rows: sent,
      columns,
      nextCursor: last ? asked.cursorAfter(last.position) : null,
      cut,
      explanation:
        isEmpty && request.explainEmpty
          ? await explain(caller, asked, request.explainEmpty === 'paid')
          : null,
    }
  }

  const exportPages: Service['exportPages'] = (caller, request) =>
    openExports.open(caller.principal.id, caller.context.signal, async (from) => {
      const asking = from === null ? caller : admit(caller.context, 0)
      const question = () => ({ ...request.question(), ...from })
      const page = await readPage(asking, { ...request, question, usualLimit: Infinity })
      if (page.kind !== 'page') throw new Error('nobody asked for less than the page')
      return page
    })

  function paidReading(caller: Caller, { access, question }: ResolvedQuestion): PaidReading {
    const { context } = caller
    return {
      read: (limit) =>
        within(caller, access, (options) => engine.read({ ...question, limit }, options)),
      pay: async (rows, allOrNone) => {
        if (rows === 0) return 0
        const paid = await pay(caller, access, rows, { signal: context.signal, allOrNone })
        if (paid === 0) requireQuota(context.quota)
        return paid
      },
      left: () => context.quota?.remaining ?? Infinity,
    }
  }

  /** How many of the rows are paid for and may be sent. */
  async function pay(
    { context, principal }: Caller,
    access: Access,
    rows: number,
    manner: Omit<ChargeManner, 'now'>,
  ): Promise<number> {
    manner.signal.throwIfAborted()
    const paid = await chargeRows(charges, principal, access, rows, { now: now(), ...manner })
    context.quota = paid.quota
    return paid.rows
  }

  function explain(caller: Caller, { access, filters }: ResolvedQuestion, mayPay: boolean) {
    const { signal } = caller.context
    const payRow = async (limited: AbortSignal) =>
      (await pay(caller, access, 1, { signal: limited, allOrNone: true })) === 1
    const options = { signal, client: caller.principal.id, payRow: mayPay ? payRow : null }
    return explainEmpty(engine, access, filters, options)
  }

  async function listDatasets(caller: Caller): Promise<readonly DatasetSummary[]> {
    const summaries: DatasetSummary[] = []
    for (const access of accessibleDatasets(caller.principal, caller.catalog)) {
      summaries.push(
        await within(caller, access, (options) => descriptions.summary(access, options)),
      )
    }
    return summaries
  }

  async function describeDataset(caller: Caller, name: string): Promise<DatasetDescription> {
    const access = enter(caller, name)
    return within(caller, access, (options) => descriptions.description(access, options))
  }

  async function guideDataset(caller: Caller, name: string): Promise<DatasetGuide> {
    const access = enter(caller, name)
    return within(caller, access, (options) => guides.guide(access, options))
  }

  async function account({ context, principal, catalog }: Caller): Promise<AccountDescription> {
    return describeAccount(control, principal, catalog, context.rate, now())
  }

  const prepare: Service['prepare'] = async (signal, report) => {
    for (const access of possibleAccesses(parts.catalog())) {
      const options = { signal, client: 'preparation' }
      try {
        await guides.guide(access, options, preparePatienceMs)
      } catch (cause) {
        if (signal.aborted) return
        report({ dataset: access.dataset.name, cause })
      }
    }
  }

  return Object.freeze({
    ...admission,
    readPage,
    exportPages,
    listDatasets,
    describeDataset,
    guideDataset,
    account,
    showcase: () => showcaseOf(parts.catalog()),
    reference: (context: RequestContext) => {
      const caller = context.authorization === undefined ? null : admit(context, 1)
      if (!caller) admission.admitAnonymous(context.address)
      const catalog = caller?.catalog ?? parts.catalog()
      return referenceFor(caller?.principal ?? null, catalog, descriptions, context.signal)
    },
    prepare,
  })
}

/** Work of a caller on a dataset, whose queries run for as long as the dataset allows. */
function within<T>(
  { context, principal }: Caller,
  { dataset }: Access,
  work: (options: ReadOptions) => Promise<T>,
): Promise<T> {
  const { signal } = context
  return work({ signal, client: principal.id, timeLimit: timeLimit(dataset.timeoutMs) })
}
