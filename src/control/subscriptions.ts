import { setImmediate } from 'node:timers/promises'
import type { Language } from '../config.js'
import { badRequest, notFound } from '../errors.js'
import { isoTime, quoted } from '../text.js'
import { recordAction } from './audit.js'
import { checkGrants, grantsIn, grantTexts, insertGrants } from './grants.js'
import type { Grant, GrantColumns } from './grants.js'
import { enterSale } from './orders.js'
import { emailLengthMax, plainEmail } from './email-address.js'
import { insertInto, sql } from './store/sql.js'
import type { Sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import { createId } from './tokens/base62.js'
import { issueToken } from './tokens/tokens.js'

export const monthsMax = 120

/** The sale of a new subscription. */
export interface Sale {
  readonly email: string
  /** At least one; each dataset at most once. */
  readonly grants: readonly Grant[]
  /** 1 to 120. */
  readonly months: number
  /** Rows a month over all datasets; null = no cap. */
  readonly globalRows: number | null
  /** The price of the whole sale, in whole roubles. */
  readonly priceRub: number
  /** The language of letters. */
  readonly language: Language
  /** The order of the shop; left out = the owner's. */
  readonly orderId?: string
  readonly now: () => number
}

export interface NewSubscription {
  readonly subscriptionId: string
  readonly tokenId: string
  /** The secret itself; it is not stored. */
  readonly token: string
  /** Ms since the epoch. */
  readonly expiresAt: number
  readonly grants: readonly Grant[]
}

/** A stored subscription; times in ms since the epoch, UTC. */
export interface Subscription {
  readonly subscriptionId: string
  readonly email: string
  readonly createdAt: number
  /** Its tokens are refused from this instant on. */
  readonly expiresAt: number
  readonly cancelledAt: number | null
  /** The day of the month, 1 to 31, on which paid time ends in months that have it. */
  readonly anchorDay: number
  readonly language: Language
  readonly globalRows: number | null
  /** By dataset name. */
  readonly grants: readonly Grant[]
}

type SubscriptionRow = Omit<Subscription, 'grants'> & GrantColumns

/**
 * Stores subscriber, subscription, grants and first token, all or nothing. A subscriber is
 * identified by e-mail, ignoring ASCII case, and keeps the first spelling.
 *
 * @throws bad_request saying what to correct.
 */
export async function createSubscription(
  store: ControlStore,
  sale: Sale,
): Promise<NewSubscription> {
  const checked = { ...sale, email: checkedEmail(sale.email) }
  checkSale(checked)
  return await store.write(async (tx) => {
    const createdAt = checked.now()
    const subscriptionId = createId(tx.random, 'sub')
    const expiresAt = addMonths(createdAt, checked.months)
    await insertSubscription(tx, checked, { subscriptionId, createdAt, expiresAt })
    await insertGrants(tx, subscriptionId, checked.grants)
    const { months, priceRub, orderId } = checked
    await enterSale(tx, subscriptionId, { kind: 'new', months, priceRub, orderId, now: createdAt })
    await recordAction(tx, {
      action: 'subscription.created',
      subject: subscriptionId,
      details: {
        email: checked.email,
        grants: grantTexts(checked.grants),
        months: checked.months,
        price_rub: checked.priceRub,
        global_rows: checked.globalRows,
        expires_at: isoTime(expiresAt),
      },
      now: createdAt,
    })
    const issued = await issueToken(tx, subscriptionId, { now: () => createdAt })
    return { subscriptionId, ...issued, expiresAt, grants: checked.grants }
  })
}

/** How many are read at once: more would keep other requests waiting. */
const pageMax = 250

/** Every subscription, also ended ones, oldest first. */
export async function listSubscriptions(store: ControlStore): Promise<Subscription[]> {
  const found = await allSubscriptions(store, sql`true`)
  return found.sort((left, right) => left.createdAt - right.createdAt)
}

/** The live subscriptions that end by a time, in the order of their ends. */
export async function subscriptionsEnding(
  store: ControlStore,
  { now, by }: { readonly now: number; readonly by: number },
): Promise<readonly Subscription[]> {
  const isEnding = sql`s.cancelled_at IS NULL AND s.expires_at > ${now} AND s.expires_at <= ${by}`
  const found = await allSubscriptions(store, isEnding)
  return found.sort((left, right) => left.expiresAt - right.expiresAt)
}

/** The subscriptions that are live, and those with rows in this month, some at a time. */
export function subscriptionsOfMonth(
  store: ControlStore,
  { now, period }: { readonly now: number; readonly period: string },
): AsyncGenerator<readonly Subscription[]> {
  return subscriptionPages(
    store,
    sql`(s.cancelled_at IS NULL AND s.expires_at > ${now}) OR EXISTS (
       SELECT 1 FROM usage u WHERE u.subscription_id = s.id AND u.period = ${period})`,
  )
}

/**
 * One subscription with its grants.
 *
 * @throws not_found when the subscription does not exist.
 */
export async function showSubscription(
  store: ControlStore,
  subscriptionId: string,
): Promise<Subscription> {
  const [found] = await readSubscriptions(store, sql`s.id = ${subscriptionId}`)
  if (found !== undefined) return found
  throw notFound(`There is no subscription '${subscriptionId}'.`)
}

/** The day of the month of an instant, UTC, 1 to 31. */
export function dayOfMonth(ms: number): number {
  return new Date(ms).getUTCDate()
}

/**
 * The same time of day, UTC, `months` calendar months later, on `day` or, in a shorter month, on
 * its last day: 31 January + 1 = 28 or 29 February; + 2, with day 31, is 31 March. Times in ms
 * since the epoch.
 */
export function addMonths(ms: number, months: number, day: number = dayOfMonth(ms)): number {
  const date = new Date(ms)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + months
  const lastDay = dayOfMonth(Date.UTC(year, month + 1, 0))
  return date.setUTCFullYear(year, month, Math.min(day, lastDay))
}

/** The address with its domain in one form. @throws bad_request unless this is one address */
export function checkedEmail(email: string): string {
  const plain = plainEmail(email)
  if (plain !== null) return plain
  throw badRequest(
    `${quoted(email)} is not one plain e-mail address of at most ${emailLengthMax} characters.`,
  )
}

/** Stores a new subscriber in the caller's transaction; a known one stays unchanged. */
export async function ensureSubscriber(
  store: ControlStore,
  email: string,
  createdAt: number,
): Promise<void> {
  await store.run(sql`${insertInto('subscribers', { email, createdAt })} ON CONFLICT DO NOTHING`)
}

/** @throws bad_request unless this is a number of months that one order can have */
export function checkMonths(months: number): void {
  if (Number.isInteger(months) && months >= 1 && months <= monthsMax) return
  throw badRequest(`The months must be a whole number from 1 to ${monthsMax}, got ${months}.`)
}

/** @throws bad_request unless this is a cap over all datasets, or null for none */
export function checkGlobalRows(globalRows: number | null): void {
  if (globalRows === null || (Number.isSafeInteger(globalRows) && globalRows >= 1)) return
  throw badRequest(
    `The rows a month over all datasets must be a whole number, 1 or more, got ${globalRows}.`,
  )
}

function checkSale({ grants, months, globalRows }: Sale): void {
  checkMonths(months)
  checkGlobalRows(globalRows)
  checkGrants(grants)
}

async function insertSubscription(
  store: ControlStore,
  { email, globalRows, language }: Sale,
  made: { subscriptionId: string; createdAt: number; expiresAt: number },
): Promise<void> {
  const { subscriptionId, createdAt, expiresAt } = made
  await ensureSubscriber(store, email, createdAt)
  await store.run(
    sql`INSERT INTO subscriptions
       (id, subscriber_id, created_at, expires_at, anchor_day, language, global_rows)
     SELECT ${subscriptionId}, id, ${createdAt}, ${expiresAt}, ${dayOfMonth(createdAt)},
       ${language}, ${globalRows}
     FROM subscribers WHERE ${store.dialect.isEmail(sql`email`, email)}`,
  )
}

async function allSubscriptions(store: ControlStore, isAsked: Sql): Promise<Subscription[]> {
  const found: Subscription[] = []
  for await (const page of subscriptionPages(store, isAsked)) found.push(...page)
  return found
}

/** Subscriptions by id, some at a time; other events are handled in between. */
async function* subscriptionPages(
  store: ControlStore,
  isAsked: Sql,
): AsyncGenerator<readonly Subscription[]> {
  let page = await readSubscriptions(store, isAsked)
  yield page
  for (let last = page.at(-1); last && page.length === pageMax; last = page.at(-1)) {
    await setImmediate()
    page = await readSubscriptions(store, sql`s.id > ${last.subscriptionId} AND (${isAsked})`)
    yield page
  }
}

/** The first ones by id. */
async function readSubscriptions(store: ControlStore, isAsked: Sql): Promise<Subscription[]> {
  const rows = await store.all<SubscriptionRow>(
    sql`SELECT s.id AS "subscriptionId", p.email, s.created_at AS "createdAt",
       s.expires_at AS "expiresAt", s.cancelled_at AS "cancelledAt", s.anchor_day AS "anchorDay",
       s.language, s.global_rows AS "globalRows", g.dataset, g.plan
     FROM (SELECT * FROM subscriptions s WHERE ${isAsked} ORDER BY s.id LIMIT ${pageMax}) s
     JOIN subscribers p ON p.id = s.subscriber_id
     LEFT JOIN grants g ON g.subscription_id = s.id
     ORDER BY s.id, g.dataset`,
  )
  return [...Map.groupBy(rows, (row) => row.subscriptionId).values()].flatMap(foldGrants)
}

/** One subscription out of its rows, one per grant. */
function foldGrants(rows: readonly SubscriptionRow[]): Subscription[] {
  return rows
    .slice(0, 1)
    .map(({ dataset, plan, ...subscription }) =>
      Object.freeze({ ...subscription, grants: grantsIn(rows) }),
    )
}
