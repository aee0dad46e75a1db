import { createHash } from 'node:crypto'
import { accessibleDatasets, authorize } from './access/access.js'
import type { Access } from './access/access.js'
import { chargeRows, quotaStatus, requireQuota } from './access/allowance.js'
import type { QuotaStatus } from './access/allowance.js'
import { ChargeQueue } from './access/charge-queue.js'
import { authenticate, unauthorized } from './access/principal.js'
import type { Principal } from './access/principal.js'
import { RateLimits } from './access/rate-limits.js'
import type { RateStatus } from './access/rate-limits.js'
import type { Catalog } from './catalog/catalog.js'
import type { Version } from './catalog/version.js'
import type { LastUsed } from './control/last-used.js'
import type { ControlStore } from './control/store.js'
import { withDeadline } from './engine/deadline.js'
import type { Engine } from './engine/engine.js'
import { ServiceError } from './errors.js'
import { ask } from './query/ask.js'
import type { RawQuestion } from './query/raw-question.js'
import { describeAccount } from './service/account.js'
import type { AccountDescription } from './service/account.js'
import { Descriptions } from './service/descriptions.js'
import type { DatasetDescription, DatasetSummary } from './service/descriptions.js'

/** One request on its way through the service, whichever door it came in by. */
export interface Visit {
  readonly authorization: string | undefined
  /** The client's network address. */
  readonly address: string
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Filled in on the way: where the caller stands, for answers and errors alike. */
  rate?: RateStatus | undefined
  quota?: QuotaStatus | undefined
}

export interface PageRequest {
  readonly dataset: string
  /** Reads the question; called only when the caller may ask one. */
  readonly question: () => RawQuestion
  /** The entity tags that the caller has, as `If-None-Match` gives them. */
  readonly knownTags?: string | undefined
  /** Every check, but neither query nor charge (HEAD). */
  readonly checkOnly?: boolean
}

/** What was read, to the day and the byte. */
interface ReadFacts {
  readonly version: Version
  /** Null for a page that a quota cut: the same request may get more later. */
  readonly tag: string | null
}

export type PageAnswer =
  | (ReadFacts & { readonly kind: 'unchanged' | 'checked' })
  | (ReadFacts & {
      readonly kind: 'page'
      /** JSON objects as text, in stored order, all of them paid for. */
      readonly rows: readonly string[]
      readonly nextCursor: string | null
    })

export interface Service {
  readonly readPage: (visit: Visit, request: PageRequest) => Promise<PageAnswer>
  readonly listDatasets: (visit: Visit) => Promise<readonly DatasetSummary[]>
  readonly describeDataset: (visit: Visit, name: string) => Promise<DatasetDescription>
  readonly account: (visit: Visit) => Promise<AccountDescription>
}

export interface ServiceParts {
  /** The catalog of this moment; taken once a request. */
  readonly catalog: () => Catalog
  readonly control: ControlStore
  readonly lastUsed: LastUsed
  readonly engine: Engine
  readonly cursorKey: Uint8Array
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The whole story of a request, a line a stage; `README.md` says what each stage may refuse. */
export function createService(parts: ServiceParts): Service {
  const { control, engine, cursorKey, now } = parts
  const rates = new RateLimits(() => performance.now())
  const charges = new ChargeQueue(control)
  const descriptions = new Descriptions(engine)

  async function readPage(visit: Visit, request: PageRequest): Promise<PageAnswer> {
    const catalog = parts.catalog()
    const principal = enter(visit, catalog)
    const access = authorize(principal, catalog, request.dataset)
    visit.quota = quotaStatus(control, principal, access, now())
    const { question, cursorAfter, key } = ask(access, principal.id, cursorKey, request.question())
    const { version } = access
    const tag = entityTag(version, access, key, principal)
    if (matchesTag(request.knownTags, tag)) return { kind: 'unchanged', version, tag }
    requireQuota(visit.quota)
    if (request.checkOnly) return { kind: 'checked', version, tag }
    const { rows, hasMore } = await withDeadline(access.dataset.timeoutMs, visit.signal, (signal) =>
      engine.read(question, { signal, client: principal.id }),
    )
    const paid = await pay(visit, principal, access, rows.length)
    const sent = rows.slice(0, paid)
    const last = hasMore || paid < rows.length ? sent.at(-1) : undefined
    return {
      kind: 'page',
      version,
      tag: paid < rows.length ? null : tag,
      rows: sent.map((row) => row.json),
      nextCursor: last ? cursorAfter(last.position) : null,
    }
  }

  /** Token, then rate: what every request of every door goes through first. */
  function enter(visit: Visit, catalog: Catalog): Principal {
    const demoToken = catalog.demo?.token ?? null
    const principal = authenticate(visit.authorization, { control, demoToken, now })
    const rate = rates.take(principal, visit.address, catalog)
    if (principal) {
      visit.rate = rate
      visit.quota = quotaStatus(control, principal, null, now())
    }
    requireRate(rate)
    if (!principal) throw unauthorized()
    if (principal.kind === 'subscriber') parts.lastUsed.note(principal.tokenId)
    return principal
  }

  /** How many of the rows are paid for and may be sent. */
  async function pay(
    visit: Visit,
    principal: Principal,
    access: Access,
    rows: number,
  ): Promise<number> {
    if (rows === 0) return 0
    visit.signal.throwIfAborted()
    const paid = await chargeRows(charges, principal, access, rows, now())
    visit.quota = paid.quota
    if (paid.rows === 0) requireQuota(paid.quota)
    return paid.rows
  }

  async function listDatasets(visit: Visit): Promise<readonly DatasetSummary[]> {
    const catalog = parts.catalog()
    const principal = enter(visit, catalog)
    const summaries: DatasetSummary[] = []
    for (const access of accessibleDatasets(principal, catalog)) {
      summaries.push(
        await withDeadline(access.dataset.timeoutMs, visit.signal, (signal) =>
          descriptions.summary(access, { signal, client: principal.id }),
        ),
      )
    }
    return summaries
  }

  async function describeDataset(visit: Visit, name: string): Promise<DatasetDescription> {
    const catalog = parts.catalog()
    const principal = enter(visit, catalog)
    const access = authorize(principal, catalog, name)
    visit.quota = quotaStatus(control, principal, access, now())
    return withDeadline(access.dataset.timeoutMs, visit.signal, (signal) =>
      descriptions.description(access, { signal, client: principal.id }),
    )
  }

  async function account(visit: Visit): Promise<AccountDescription> {
    const catalog = parts.catalog()
    const principal = enter(visit, catalog)
    return describeAccount(control, principal, catalog, visit.rate, now())
  }

  return Object.freeze({ readPage, listDatasets, describeDataset, account })
}

function requireRate(rate: RateStatus): void {
  if (!rate.exceeded) return
  throw new ServiceError(
    'rate_limit_exceeded',
    `At most ${rate.limit} requests a minute. Wait ${rate.resetSeconds} s.`,
    { retryAfterSeconds: rate.resetSeconds },
  )
}

/** Equal tags, equal bytes: version, question, and what the caller may see. */
function entityTag(version: Version, access: Access, key: string, principal: Principal): string {
  const facts = JSON.stringify([version.id, access.key, key, 'json', principal.id])
  return `"${createHash('sha256').update(facts).digest('base64url').slice(0, 27)}"`
}

function matchesTag(known: string | undefined, tag: string): boolean {
  if (known === undefined) return false
  return known
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => each === tag || each === '*')
}
