import { accessAt, authorize, grantedDatasets } from '../access/access.js'
import type { Access } from '../access/access.js'
import { noSubscription, principalOf, requireSubscriber } from '../access/principal.js'
import type { Principal } from '../access/principal.js'
import type { Catalog } from '../catalog.js'
import { latestYears } from '../columns/predicate.js'
import { historyText } from '../columns/history-value.js'
import { listVersions } from '../control/dataset-versions.js'
import type { PublishedVersion } from '../control/dataset-versions.js'
import { findWatchList, watchListNames } from '../control/hooks/watch-lists.js'
import type { WatchList } from '../control/hooks/watch-lists.js'
import type { ControlStore } from '../control/store/store.js'
import { showSubscription } from '../control/subscriptions.js'
import { timeLimit } from '../engine/deadline.js'
import type { ReadChanges } from '../engine/engine.js'
import { ServiceError, badRequest, notFound, unavailable } from '../errors.js'
import type { RawChanges } from '../query/parse-changes.js'
import { accessOf } from '../query/resolve-question.js'
import { resolveChanges, takeExport } from '../query/resolve-changes.js'
import type { FindSets, ResolvedChanges } from '../query/resolve-changes.js'
import { didYouMean, isoTime, listed, quoted } from '../text.js'
import { keyProblem } from '../versions/changes/change-set.js'
import type { ChangeSet, ReadySet } from '../versions/changes/change-set.js'
import type { ChangeSets } from '../versions/changes/change-sets.js'
import { oldestHistory } from '../versions/version.js'
import type { DatasetCaller } from './caller.js'

/** What changes are answered with. */
export interface ChangesParts {
  readonly control: ControlStore
  readonly sets: ChangeSets
  readonly read: ReadChanges
}

/** A version in the list of `GET /v1/<dataset>/versions`. */
export interface VersionEntry {
  readonly version: string
  /** Null where this token sees only a part of the rows, and the part is not known any more. */
  readonly as_of: string | null
  /** ISO 8601. */
  readonly published_at: string
  /** The same. */
  readonly rows: number | null
  readonly previous: string | null
  /** What `changes` since `previous` can answer. */
  readonly changes: 'ready' | 'pending' | 'none'
}

/** Versions that one question folds: those of 100 days, one an hour. */
const stepsMax = 2500

/** The versions of a dataset, newest first. */
export async function describeVersions(
  { control, sets }: ChangesParts,
  access: Access,
): Promise<readonly VersionEntry[]> {
  const { dataset, version, predicates } = access
  const entries = await listVersions(control, dataset.name)
  const isWhole = predicates.length === 0
  return Promise.all(
    entries.map(async ({ rows, asOf, publishedAt, ...entry }) => ({
      version: entry.version,
      as_of: isWhole && !version.history?.hidden ? asOf : null,
      published_at: isoTime(publishedAt),
      rows: isWhole ? rows : null,
      previous: entry.previous,
      changes: await stateOf(access, entry, sets),
    })),
  )
}

async function stateOf(
  access: Access,
  entry: Pick<PublishedVersion, 'version' | 'previous' | 'changes'>,
  sets: ChangeSets,
): Promise<VersionEntry['changes']> {
  if (entry.previous === null || keyProblem(access.version) !== null) return 'none'
  const set = await sets.find({ dataset: access.dataset.name, ...entry })
  if (set) return isUsable(access, set) ? 'ready' : 'none'
  // What another server has is not ready here.
  return entry.changes === 'none' ? 'none' : 'pending'
}

/** Whether a set tells rows apart by the key of today. */
function isUsable({ version }: Access, set: ChangeSet): set is ReadySet {
  const key = version.key.map(({ source }) => source)
  return set.kind === 'ready' && String(set.key) === String(key)
}

/** Turns a request for changes into what the engine reads. @throws as `resolveChanges` */
export async function resolveChangesOf(
  parts: ChangesParts,
  { principal, access: newest }: Pick<DatasetCaller, 'principal' | 'access'>,
  cursorKey: Uint8Array,
  raw: RawChanges,
  usualLimit?: number,
): Promise<ResolvedChanges> {
  const access = accessOf(newest, raw.cursor)
  const entries = await listVersions(parts.control, access.dataset.name)
  if (keyProblem(access.version) !== null) throw noChanges()
  const [newestSet] = await setsOf(parts, access, entries.slice(0, 1))
  if (newestSet?.kind === 'none' && newestSet.isKeyless) throw noChanges()
  const find: FindSets = (since) => findSets(parts, access, entries, since)
  const watch = raw.watch === null ? null : await watchListOf(parts, principal, access, raw.watch)
  return resolveChanges(access, principal.id, cursorKey, { ...raw, watch }, find, usualLimit)
}

/** @throws not_found for who has no lists; bad_request naming the lists that there are */
async function watchListOf(
  { control }: Pick<ChangesParts, 'control'>,
  principal: Principal,
  { dataset }: Access,
  name: string,
): Promise<WatchList> {
  const { id, connectionId } = requireSubscriber(principal)
  if (connectionId !== undefined) throw noSubscription()
  const list = await findWatchList(control, id, name)
  if (list?.dataset === dataset.name) return list
  const names = await watchListNames(control, id, dataset.name)
  const what = list
    ? `Watch list ${quoted(name)} is of another dataset`
    : `There is no watch list ${quoted(name)}`
  const known =
    names.length === 0 ? 'This dataset has none.' : `This dataset has ${listed(names.map(quoted))}.`
  throw badRequest(`${what}.${didYouMean(name, names)} ${known}`)
}

/** Whose watch list, and the version that was published. */
export interface WatchedVersion {
  readonly subscriptionId: string
  readonly list: WatchList
  readonly version: string
}

interface WatchParts {
  readonly changes: ChangesParts
  readonly cursorKey: Uint8Array
  /** The catalog of this moment. */
  readonly catalog: () => Catalog
}

/**
 * Whether something in a watch list changed from the version before, as its subscription sees it;
 * true where that can't be told. It costs nothing.
 * @throws service_unavailable while it is not known on this server
 */
export async function hasWatchedChange(
  { changes: parts, cursorKey, catalog }: WatchParts,
  { subscriptionId, list, version }: WatchedVersion,
  signal: AbortSignal,
): Promise<boolean> {
  const principal = principalOf(await showSubscription(parts.control, subscriptionId), null)
  const served = catalog()
  const granted = grantedDatasets(principal, served)
  if (!granted.some(({ dataset }) => dataset.name === list.dataset)) return false
  const newest = authorize(principal, served, list.dataset)
  const entries = await listVersions(parts.control, list.dataset)
  const index = entries.findIndex((each) => each.version === version)
  const since = entries[index]?.previous ?? null
  if (index < 0) return true
  const access = accessAt(newest, version)
  const servedIndex = entries.findIndex((each) => each.version === newest.version.id)
  if (!access && servedIndex > index) throw notReady()
  if (!access || since === null) return true
  const raw = {
    since,
    watch: list.name,
    filters: [],
    select: null,
    limit: 1,
    cursor: null,
    format: null,
  }
  try {
    const { question } = await resolveChangesOf(parts, { principal, access }, cursorKey, raw)
    const options = { signal, client: principal.id, timeLimit: timeLimit(access.dataset.timeoutMs) }
    return (await parts.read(question, options)).rows.length > 0
  } catch (cause) {
    const isUnknown =
      cause instanceof ServiceError && ['bad_request', 'not_found'].includes(cause.code)
    if (isUnknown) return true
    throw cause
  }
}

/**
 * What differs in each step from a version to the one that is served here.
 * @throws bad_request for a version that is unknown, or whose changes are not known;
 *   service_unavailable while they are computed, and where another server is ahead
 */
async function findSets(
  parts: ChangesParts,
  access: Access,
  entries: readonly PublishedVersion[],
  since: string,
): Promise<readonly ReadySet[]> {
  const { version } = access
  if (since === version.id) return []
  const from = entries.findIndex((each) => each.version === version.id)
  const steps: PublishedVersion[] = []
  let wanted: string | null = version.id
  for (const entry of from < 0 ? [] : entries.slice(from)) {
    if (entry.version !== wanted) continue
    // A version that came back: what was between is undone.
    const again = steps.findIndex((each) => each.version === entry.version)
    if (again >= 0) steps.splice(0, again + 1)
    steps.unshift(entry)
    wanted = entry.previous
    if (wanted === since || wanted === null) break
  }
  if (wanted !== since) {
    const isAhead = from < 0 || entries.slice(0, from).some((each) => each.version === since)
    if (isAhead) throw notReady()
    throw takeExport('since is not a version whose changes are kept', version.id)
  }
  if (steps.length > stepsMax) {
    throw takeExport(`More than ${stepsMax} versions lie between`, version.id)
  }
  const sets = await setsOf(parts, access, steps)
  // Another server may have what this one lacks.
  if (steps.some(({ changes }, index) => !sets[index] && changes !== 'none')) throw notReady()
  const ready = sets.filter((set) => set !== null && isUsable(access, set))
  if (ready.length < sets.length) {
    throw takeExport('The changes since that version are not known', version.id)
  }
  if (isWindowBack(access, ready[0])) {
    const why = 'The newest period of the data went back, so the plan shows earlier rows again'
    throw takeExport(why, version.id)
  }
  return ready
}

/** Whether the window began later before a step: no step names the rows that it shows again. */
function isWindowBack({ plan, version }: Access, first: ReadySet | undefined): boolean {
  const { history, newestHistory } = version
  if (!plan || plan.history === 'all' || !history || first?.newestBefore == null) return false
  const years = plan.history
  const [was, is] = [BigInt(first.newestBefore), newestHistory].map((newest) => {
    const [window] = latestYears(history, newest, years)
    return window?.kind === 'gte' ? window.value : null
  })
  return was != null && newestHistory !== undefined && (is == null || was > is)
}

function setsOf(
  { sets }: ChangesParts,
  { dataset }: Access,
  steps: readonly PublishedVersion[],
): Promise<readonly (ChangeSet | null)[]> {
  return Promise.all(steps.map((step) => sets.find({ dataset: dataset.name, ...step })))
}

function noChanges(): ServiceError {
  return notFound('This dataset has no changes: its rows have no unique key. Take an export.')
}

function notReady(): ServiceError {
  return unavailable('These changes are not ready on this server yet. Try again shortly.', 30)
}

/**
 * The oldest history value that the caller sees, as in a row; null where none is told: of the rows
 * of the demo, those of the whole dataset say nothing.
 */
export function oldestSeen({ plan, predicates, version }: Access): string | number | null {
  const { history, newestHistory } = version
  if (!plan || !history || history.hidden || newestHistory === undefined) return null
  const [window] = predicates
  const isCounted = window?.kind === 'gte' && typeof window.value === 'bigint'
  const oldest = isCounted ? (window.value as bigint) : oldestHistory(version, history)
  return history.rules.shown === 'integer' ? Number(oldest) : historyText(history, oldest)
}
