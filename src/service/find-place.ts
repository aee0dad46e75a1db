import type { Access } from '../access/access.js'
import type { Charges } from '../access/charge-queue.js'
import type { Clock } from '../clock.js'
import { predicateKey } from '../columns/predicate.js'
import { shownText } from '../columns/shown-text.js'
import { notFound, unavailable } from '../errors.js'
import type { FindExplanation, FindQuestion, Match } from '../names/find-names.js'
import type { FindRequest } from '../query/parse-find.js'
import { textsOf } from '../row-texts.js'
import { windowBits } from '../versions/forms/name-periods.js'
import type { Entity, StoredFile } from '../versions/version.js'
import type { DatasetCaller } from './caller.js'
import type { Payment } from './page.js'
import { openPayment, tooDear } from './paid/payment.js'

/** Of one client only some questions wait at a time. */
type Ask<Answer> = (index: StoredFile, question: FindQuestion, client: string) => Promise<Answer>

/** Asks an index of names, off the event loop. */
export interface NameFinder {
  /** @throws bad_request, service_unavailable */
  readonly find: Ask<readonly Match[]>
  readonly explain: Ask<FindExplanation>
}

/** What finding needs of the rest of the house. */
export interface FindParts {
  readonly names: NameFinder
  readonly charges: Charges
  readonly clock: Clock
}

/** A dataset in which a caller may find entities. */
export interface Place {
  readonly reader: DatasetCaller
  readonly entity: Entity
  /** Null for a dataset without a row, in which nothing is found. */
  readonly index: StoredFile | null
  readonly payment: Payment
}

/** @throws not_found for a dataset without an entity; service_unavailable, row_quota_exceeded */
export function placeOf({ charges, clock }: FindParts, reader: DatasetCaller): Place {
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

/** What the index of names finds there, the best first. */
export async function findAt(
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
export function chargeOf({ entity, reader }: Place, entries: number): number {
  const { key, name, period, rank } = entity
  const cells = [key, name, period, rank].filter((column) => column !== null).length
  return Math.ceil((entries * cells) / Math.max(1, reader.access.columns.length))
}

/** @throws row_quota_exceeded if the most that the answer can cost is more than what is left */
export function requireRows(place: Place, limit: number): void {
  const { quota } = place.payment.cost()
  const most = chargeOf(place, limit)
  if (!quota || most <= quota.remaining) return
  let fits = limit
  while (fits > 0 && chargeOf(place, fits) > quota.remaining) fits--
  throw tooDear(quota, most, fits)
}

/** Pays for entries, all or none, and returns their texts. */
export async function payFor(place: Place, found: readonly Match[]): Promise<readonly string[]> {
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
export async function explainNothing(
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
