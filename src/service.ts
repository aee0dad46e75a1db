import { accessibleDatasets } from './access/access.js'
import type { RateLimits } from './access/rate-limits.js'
import type { CacheUse } from './cache.js'
import type { Catalog } from './catalog.js'
import type { AdmissionReads } from './control/admission-reads.js'
import type { ControlStore } from './control/store/store.js'
import type { LastUsed } from './control/tokens/last-used.js'
import type { Rows, Summarized } from './engine/engine.js'
import type { SchemaQuestion } from './query/parse-schema-url.js'
import { describeAccount } from './service/account.js'
import type { AccountDescription } from './service/answer-schemas.js'
import type { DatasetDescription, DatasetSummary } from './service/answer-schemas.js'
import { createAdmission } from './service/admission.js'
import type { Admission } from './service/admission.js'
import { enterDataset, readOptions } from './service/caller.js'
import type { Caller, RequestContext } from './service/caller.js'
import { endOwnConnection, ownConnections } from './service/own-connections.js'
import type { OwnConnection } from './service/own-connections.js'
import { Descriptions } from './service/descriptions.js'
import { hasWatchedChange } from './service/changes.js'
import type { ChangesParts, VersionEntry, WatchedVersion } from './service/changes.js'
import { OpenExports } from './service/export.js'
import type { Export } from './service/export.js'
import { findEntities } from './service/find.js'
import type { Find } from './service/find.js'
import type { NameFinder } from './service/find-place.js'
import { withFacts } from './service/column-facts.js'
import { Guides } from './service/guides.js'
import type { DatasetGuide, GuideFailure } from './service/guides.js'
import { answerCache } from './service/paid/kept-answers.js'
import type {
  ChangesRequest,
  Page,
  PageAnswer,
  PageRequest,
  SummaryAnswer,
  SummaryRequest,
  TopRequest,
} from './service/page.js'
import { referenceFor } from './service/reference.js'
import type { Reference } from './service/reference.js'
import { showcaseOf } from './service/showcase.js'
import type { Language } from './config.js'
import type { Showcase } from './service/showcase.js'
import { listVersions, readChanges, readPage, readTop, summarize } from './service/answers.js'
import type { PageParts } from './service/answers.js'

export type { Caller, RequestContext } from './service/caller.js'

export interface Service extends Admission {
  readonly readPage: (caller: Caller, request: PageRequest) => Promise<PageAnswer>
  /** The first rows by one column, charged like a page. */
  readonly top: (caller: Caller, request: TopRequest) => Promise<PageAnswer>
  /** What differs since a version, charged like a page. */
  readonly changes: (caller: Caller, request: ChangesRequest) => Promise<PageAnswer>
  /** The versions of a dataset, newest first. */
  readonly listVersions: (caller: Caller, name: string) => Promise<readonly VersionEntry[]>
  /** Whether something in a watch list changed with a version, as its subscription sees it. */
  readonly hasWatchedChange: (asked: WatchedVersion, signal: AbortSignal) => Promise<boolean>
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
  ) => Promise<DatasetDescription>
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
    hasWatchedChange: (...asked) => hasWatchedChange(parts, ...asked),
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
