import { accessibleDatasets } from '../access/access.js'
import { quotaStatus, rowBudget } from '../access/allowance.js'
import type { QuotaStatus } from '../access/allowance.js'
import { shownText } from '../columns/shown-text.js'
import { ServiceError } from '../errors.js'
import type { FindExplanation, Match } from '../names/find-names.js'
import type { FindRequest } from '../query/parse-find.js'
import { enterDataset } from './caller.js'
import type { Caller } from './caller.js'
import { chargeOf, explainNothing, findAt, payFor, placeOf, requireRows } from './find-place.js'
import type { FindParts, Place } from './find-place.js'
import type { Cost } from './page.js'

/** Refusals of one dataset that leave the others to answer. */
const passing: readonly string[] = ['row_quota_exceeded', 'service_unavailable']

/** The best first. */
const matchKinds: readonly Match['match'][] = ['key', 'exact', 'prefix', 'words', 'typo']

/** Names that an explanation has at most. */
const nearestMax = 3

/** What was found, paid. */
export interface FoundAnswer extends Cost {
  /** The JSON text of each entry, the best match first. */
  readonly entries: readonly string[]
  /** Why there is none; null if that was not asked for or not paid. */
  readonly explained: FindExplanation | null
  /** Rows are counted for this caller. */
  readonly isCounted: boolean
  /** Granted datasets that have too few rows left this month, or no index yet. */
  readonly leftOut: readonly string[]
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

/** Datasets of which some were refused. */
class Places {
  readonly open: Place[] = []
  readonly leftOut: string[] = []
  #refusal: ServiceError | null = null

  /** Leaves out a dataset whose refusal the others pass; throws other causes. */
  leaveOut(name: string, cause: unknown): void {
    if (!(cause instanceof ServiceError) || !passing.includes(cause.code)) throw cause
    this.#refusal ??= cause
    this.leftOut.push(name)
  }

  /** @throws what refused the first one, if nothing else is to be answered */
  requireAnswer(hasAnswer: boolean): void {
    if (this.#refusal && !hasAnswer) throw this.#refusal
  }
}

/**
 * The entities of all granted datasets that have some: the best matches first, then by rank. A
 * dataset that has too few rows left, or no index yet, is left out, and named.
 * @throws what refuses the first one, if all are left out
 */
async function findEverywhere(
  parts: FindParts,
  caller: Caller,
  request: FindRequest,
  checkOnly: boolean,
): Promise<FoundAnswer> {
  const whole = quotaStatus(caller.principal, null, caller.usage, parts.clock.now())
  const places = placesOf(parts, caller, request, whole)
  const best = checkOnly ? [] : await bestOf(parts, places.open, request)
  const texts = await payForAll(places, best)
  places.requireAnswer(texts.size > 0 || (best.length === 0 && places.open.length > 0))
  const isToExplain = best.length === 0 && request.explain && !checkOnly
  const explained =
    isToExplain && places.leftOut.length === 0
      ? joined(await Promise.all(places.open.map((place) => explainNothing(parts, place, request))))
      : null
  const charged = places.open.reduce((sum, { payment }) => sum + payment.cost().charged, 0)
  const quota = whole && { ...whole, ...rowBudget(whole.limit, whole.used + charged) }
  caller.context.observe?.({ kind: 'limits', limits: { ...caller.limits, quota } })
  const [place, ...others] = places.open
  return {
    entries: best.flatMap(({ match }) => texts.get(match) ?? []),
    explained,
    isCounted: caller.principal.kind !== 'demo',
    leftOut: places.leftOut,
    charged,
    quota: others.length === 0 && place ? place.payment.cost().quota : quota,
  }
}

function placesOf(
  parts: FindParts,
  caller: Caller,
  { limit }: FindRequest,
  whole: QuotaStatus | undefined,
): Places {
  const places = new Places()
  let most = 0
  for (const { dataset, version } of accessibleDatasets(caller.principal, caller.catalog)) {
    if (!version.entity) continue
    try {
      const place = placeOf(parts, enterDataset(caller, dataset.name, parts.clock.now()))
      requireRows(place, limit)
      // Datasets share the quota over all: together they may cost no more than is left of it.
      const own = chargeOf(place, limit)
      if (whole && most + own > whole.remaining) {
        places.leftOut.push(dataset.name)
        continue
      }
      most += own
      places.open.push(place)
    } catch (cause) {
      places.leaveOut(dataset.name, cause)
    }
  }
  return places
}

async function bestOf(
  parts: FindParts,
  places: readonly Place[],
  request: FindRequest,
): Promise<readonly Found[]> {
  const found = await Promise.all(
    places.map(async (place) => {
      const matches = await findAt(parts, place, request)
      const key = shownText(place.entity.key, request.q)
      return matches.map((match) => ({ place, match, isKey: match.key === key }))
    }),
  )
  return found.flat().sort(byMatch).slice(0, request.limit)
}

/** The texts of what could be paid: what one dataset refuses takes nothing from the others. */
async function payForAll(places: Places, best: readonly Found[]): Promise<Map<Match, string>> {
  const texts = new Map<Match, string>()
  for (const place of places.open) {
    const own = best.filter((each) => each.place === place).map(({ match }) => match)
    try {
      const entries = await payFor(place, own)
      for (const [index, match] of own.entries()) texts.set(match, entries[index] ?? '')
    } catch (cause) {
      places.leaveOut(place.reader.access.dataset.name, cause)
    }
  }
  return texts
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
type Found = Readonly<{ place: Place; match: Match; isKey: boolean }>

function byMatch(left: Found, right: Found): number {
  const keys = Number(right.isKey) - Number(left.isKey)
  const kinds = matchKinds.indexOf(left.match.match) - matchKinds.indexOf(right.match.match)
  return keys || kinds || (right.match.rank ?? -Infinity) - (left.match.rank ?? -Infinity) || 0
}
