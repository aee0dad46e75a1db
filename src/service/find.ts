import { accessibleDatasets } from '../access/access.js'
import type { Access } from '../access/access.js'
import { quotaStatus } from '../access/allowance.js'
import type { Charges } from '../access/charge-queue.js'
import type { Clock } from '../clock.js'
import { predicateKey } from '../columns/predicate.js'
import { shownText } from '../columns/shown-text.js'
import { ServiceError, notFound, unavailable } from '../errors.js'
import type { FindExplanation, FindQuestion, Match } from '../names/find-names.js'
import type { FindRequest } from '../query/parse-find.js'
import { textsOf } from '../row-texts.js'
import { windowBits } from '../versions/forms/name-periods.js'
import type { Entity, StoredFile } from '../versions/version.js'
import { enterDataset } from './caller.js'
import type { Caller, DatasetCaller } from './caller.js'
import type { Cost, Payment } from './page.js'
import { openPayment, tooDear } from './paid/payment.js'

/** Refusals of one dataset that leave the others to answer. */
const passing: readonly string[] = ['row_quota_exceeded', 'service_unavailable']

/** The best first. */
const matchKinds: readonly Match['match'][] = ['key', 'exact', 'prefix', 'words', 'typo']

/** Names that an explanation has at most. */
const nearestMax = 3

/** Of one client only some questions wait at a time. */
type Ask<Answer> = (index: StoredFile, question: FindQuestion, client: string) => Promise<Answer>

/** Asks an index of names, off the event loop. */
export interface NameFinder {
  /** @throws bad_request, service_unavailable */
  readonly find: Ask<readonly Match[]>
  readonly explain: Ask<FindExplanation>
}

/** What was found, paid. */
export interface FoundAnswer extends Cost {
  /** The JSON text of each entry, the best match first. */
  readonly entries: readonly string[]
  /** Why there is none; null if that was not asked for or not paid. */
  readonly explained: FindExplanation | null
  /** Rows are counted for this caller. */
  readonly isCounted: boolean
  /** Granted datasets that have no rows left this month, or no index yet. */
  readonly leftOut: readonly string[]
}

interface FindParts {
  readonly names: NameFinder
  readonly charges: Charges
  readonly clock: Clock
}

/**
 * Entities by key or name, of one dataset, or of all where the name is null. With `checkOnly`
 * nothing is read or charged.
 */
export type Find = (
  caller: Caller,
  dataset: string | null,
  request: FindRequest,
  checkOnly?: boolean,
) => Promise<FoundAnswer>

/** Carries out a `Find`. @throws as `findIn` */
export function findEntities(parts: FindParts, ...asked: Parameters<Find>): Promise<FoundAnswer> {
  const [caller, dataset, request, checkOnly = false] = asked
  return dataset === null
    ? findEverywhere(parts, caller, request, checkOnly)
    : findIn(parts, caller, dataset, request, checkOnly)
}

/** A dataset in which a caller may find entities. */
interface Place {
  readonly reader: DatasetCaller
  readonly entity: Entity
  /** Null for a dataset without a row, in which nothing is found. */
  readonly index: StoredFile | null
  readonly payment: Payment
}

/**
 * The entities of one dataset, each for its share of a row; nothing found is free.
 * @throws not_found for a dataset without an entity; row_quota_exceeded before anything is read
 */
async function findIn(
  parts: FindParts,
  caller: Caller,
  name: string,
  request: FindRequest,
  checkOnly: boolean,
): Promise<FoundAnswer> {
  const reader = enterDataset(caller, name, parts.clock.now())
  const place = placeOf(parts, reader)
  requireRows(place, request.limit)
  const found = checkOnly ? [] : await findAt(parts, place, request)
  const entries = await payFor(place, found)
  const explained =
    found.length === 0 && request.explain && !checkOnly
      ? await explainNothing(parts, place, request)
      : null
  const isCounted = caller.principal.kind !== 'demo'
  return { entries, explained, isCounted, leftOut: [], ...place.payment.cost() }
}

/**
 * The entities of all granted datasets that have some: the best matches first, then by rank. A
 * dataset that has no rows left, or no index yet, is left out, and named.
 */
async function findEverywhere(
  parts: FindParts,
  caller: Caller,
  request: FindRequest,
  checkOnly: boolean,
): Promise<FoundAnswer> {
  const leftOut: string[] = []
  const whole = quotaStatus(caller.principal, null, caller.usage, parts.clock.now())
  let most = 0
  const places: Place[] = []
  for (const { dataset, version } of accessibleDatasets(caller.principal, caller.catalog)) {
    if (!version.entity) continue
    try {
      const place = placeOf(parts, enterDataset(caller, dataset.name, parts.clock.now()))
      requireRows(place, request.limit)
      // Datasets share the quota over all: together they may cost no more than is left of it.
      const own = chargeOf(place, request.limit)
      if (whole && most + own > whole.remaining) {
        leftOut.push(dataset.name)
        continue
      }
      most += own
      places.push(place)
    } catch (cause) {
      if (!(cause instanceof ServiceError) || !passing.includes(cause.code)) throw cause
      leftOut.push(dataset.name)
    }
  }
  const found = await Promise.all(
    places.map(async (place) => {
      if (checkOnly) return []
      const matches = await findAt(parts, place, request)
      const key = shownText(place.entity.key, request.q)
      return matches.map((match) => ({ place, match, isKey: match.key === key }))
    }),
  )
  const best = found.flat().sort(byMatch).slice(0, request.limit)
  const texts = new Map<Match, string>()
  for (const place of places) {
    const own = best.filter((each) => each.place === place).map(({ match }) => match)
    const entries = await payFor(place, own)
    for (const [index, match] of own.entries()) texts.set(match, entries[index] ?? '')
  }
  const explained =
    best.length === 0 && request.explain && !checkOnly
      ? joined(await Promise.all(places.map((place) => explainNothing(parts, place, request))))
      : null
  const charged = places.reduce((sum, { payment }) => sum + payment.cost().charged, 0)
  const quota = places.length === 1 ? places[0]?.payment.cost().quota : undefined
  const entries = best.map(({ match }) => texts.get(match) ?? '')
  const isCounted = caller.principal.kind !== 'demo'
  return { entries, explained, isCounted, leftOut, charged, quota }
}

/** The words that are nowhere in any dataset, and the nearest names of all; null without any. */
function joined(all: readonly (FindExplanation | null)[]): FindExplanation | null {
  const [first, ...others] = all.filter((each) => each !== null)
  if (!first) return null
  const nowhere = first.nowhere.filter((word) =>
    others.every((each) => each.nowhere.includes(word)),
  )
  const nearest = [first, ...others].flatMap((each) => each.nearest)
  return { nowhere, nearest: [...new Set(nearest)].slice(0, nearestMax) }
}

/** `isKey`: longer keys have the same kind of match as the key itself, which comes first. */
type Found = Readonly<{ match: Match; isKey: boolean }>

function byMatch(left: Found, right: Found): number {
  const keys = Number(right.isKey) - Number(left.isKey)
  const kinds = matchKinds.indexOf(left.match.match) - matchKinds.indexOf(right.match.match)
  return keys || kinds || (right.match.rank ?? -Infinity) - (left.match.rank ?? -Infinity) || 0
}

function placeOf({ charges, clock }: FindParts, reader: DatasetCaller): Place {
  const { dataset, version, predicates, plan } = reader.access
  const { entity, names } = version
  if (!entity) {
    throw notFound(`Rows of ${dataset.name} can't be found by name. Use filters.`)
  }
  const isOfDemo = plan !== null || keyOf(predicates) === keyOf(entity.demo ?? [])
  if ((!names && version.rows > 0) || !isOfDemo) {
    throw unavailable('The index of names is being made. Try again in 5 s.', 5)
  }
  const payment = openPayment(reader, charges, clock.now)
  return { reader, entity, index: names, payment }
}

async function findAt(
  { names }: FindParts,
  place: Place,
  request: FindRequest,
): Promise<readonly Match[]> {
  const { index, reader } = place
  return index ? names.find(index, questionOf(place, request), reader.principal.id) : []
}

function keyOf(predicates: Access['predicates']): string {
  return predicates.map(predicateKey).sort().join()
}

function questionOf(
  { reader: { access }, entity }: Place,
  { q, limit }: FindRequest,
): FindQuestion {
  const key = shownText(entity.key, q)
  return { q, key, limit, window: visibleBits(access), isDemo: access.plan === null }
}

function visibleBits({ plan, version: { history, newestHistory } }: Access): number {
  if (plan === null || plan.history === 'all' || !history) return windowBits('all')
  return newestHistory === undefined ? 0 : windowBits(plan.history)
}

/** The rows that entries cost: at least as many as carry their cells. */
function chargeOf({ entity, reader }: Place, entries: number): number {
  const { key, name, period, rank } = entity
  const cells = [key, name, period, rank].filter((column) => column !== null).length
  return Math.ceil((entries * cells) / Math.max(1, reader.access.columns.length))
}

/** @throws row_quota_exceeded if the most that the answer can cost is more than what is left */
function requireRows(place: Place, limit: number): void {
  const { quota } = place.payment.cost()
  const most = chargeOf(place, limit)
  if (!quota || most <= quota.remaining) return
  let fits = limit
  while (fits > 0 && chargeOf(place, fits) > quota.remaining) fits--
  throw tooDear(quota, most, fits)
}

/** Pays for entries, all or none, and returns their texts. */
async function payFor(place: Place, found: readonly Match[]): Promise<readonly string[]> {
  const { reader, payment } = place
  const charge = chargeOf(place, found.length)
  const paid = charge === 0 ? 0 : await payment.pay(charge, true, reader.context.signal)
  const { quota } = payment.cost()
  reader.context.observe?.({ kind: 'charge', charge: { rows: charge, paid, quota } })
  if (paid < charge) {
    throw unavailable('Other requests of this subscription used its quota meanwhile. Try again.', 1)
  }
  reader.context.observe?.({ kind: 'sent', rows: found.length })
  return found.map((match) => entryText(place, match))
}

/** The entry as JSON, with the texts of its cells as in rows; only what the entity declares. */
function entryText({ reader, entity }: Place, match: Match): string {
  const { access } = reader
  const [seen = '[]', ofDemo = seen] = textsOf(match.facts).cells
  const [key = 'null', period = 'null', rank = 'null'] = textsOf(
    access.plan === null ? ofDemo : seen,
  ).cells
  const members = [
    ['dataset', JSON.stringify(access.dataset.name)],
    ['key', key],
    ['name', entity.name && (match.name === '' ? 'null' : JSON.stringify(match.name))],
    ['period', entity.period && period],
    ['rank', entity.rank && rank],
    ['match', JSON.stringify(match.match)],
    ['matched', JSON.stringify(match.matched)],
  ]
  const shown = members.filter(([, text]) => text !== null)
  return `{${shown.map(([name, text]) => `"${name}":${text}`).join()}}`
}

/** Pays a row for the words that are nowhere and the nearest names. */
async function explainNothing(
  { names }: FindParts,
  place: Place,
  request: FindRequest,
): Promise<FindExplanation | null> {
  const { index, reader } = place
  if (!index) return null
  const explanation = await names.explain(index, questionOf(place, request), reader.principal.id)
  const paid = await place.payment.pay(1, true, place.reader.context.signal)
  return paid === 1 ? explanation : null
}
