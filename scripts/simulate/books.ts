import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

interface SubscriptionRow {
  readonly id: string
  readonly expiresAt: number
  readonly cancelledAt: number | null
  /** The day on which its months end. */
  readonly anchorDay: number
  readonly grants: ReadonlyMap<string, string>
  readonly entries: number
}

interface TokenRow {
  readonly id: string
  /** Of the secret, in hexadecimal digits. */
  readonly hash: string
  readonly subscription: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

export interface OrderRow {
  readonly id: string
  readonly kind: 'new' | 'renew' | 'change'
  readonly state: 'waiting' | 'confirmed' | 'declined' | 'expired'
  readonly subscription: string | null
  readonly amountRub: number
  readonly payUntil: number
  readonly orderedAt: number
  /** Payments that confirmed it. */
  readonly paid: number
  /** Its invoice or receipt in JSON, and its number among the paid ones. */
  readonly paper: string | null
  readonly receipt: string | null
  /** Letters and entries of the audit trail that report its confirmation. */
  readonly confirmations: number
  readonly audited: number
  /** Letters to the owners about its end, and who decided it over HTTP. */
  readonly told: number
  readonly by: string | null
}

/** A change that takes effect at the end of a term. */
interface ScheduledRow {
  readonly id: string
  readonly subscription: string
  /** JSON of what changes; a dataset without a plan is removed. */
  readonly items: string
  readonly at: number
}

interface LetterRow {
  /** As the post sees it: a number is used again once its letter was removed. */
  readonly id: string
  readonly kind: string
  readonly state: 'waiting' | 'sent' | 'failed' | 'dropped'
  readonly error: string | null
}

/** What control.db says, read beside the service. */
export interface Books {
  readonly subscriptions: ReadonlyMap<string, SubscriptionRow>
  readonly tokens: ReadonlyMap<string, TokenRow>
  readonly orders: ReadonlyMap<string, OrderRow>
  /** Also the owner's. */
  readonly scheduled: ReadonlyMap<string, ScheduledRow>
  /** The numbers of paid orders, `2026-7`. */
  readonly receipts: readonly string[]
  readonly letters: ReadonlyMap<string, LetterRow>
  /** Rows by subscription, dataset and month. */
  readonly usage: ReadonlyMap<string, number>
}

/**
 * Reads the books of a state folder. The connection stays open: to open one costs more than to read.
 * It must be closed before the file is moved, copied or last closed by the service.
 */
export class BookReader {
  readonly #path: string
  #db: Database.Database | null = null
  readonly #statements = new Map<string, Database.Statement>()

  constructor(state: string) {
    this.#path = join(state, 'control.db')
  }

  /** Empty before the first start. */
  read(): Books {
    if (!existsSync(this.#path)) return emptyBooks
    return booksFrom((sql) => this.#prepared(sql).all())
  }

  close(): void {
    this.#db?.close()
    this.#db = null
    this.#statements.clear()
  }

  #prepared(sql: string): Database.Statement {
    this.#db ??= new Database(this.#path, { readonly: true, timeout: 0 })
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

function booksFrom(rowsOf: (sql: string) => unknown[]): Books {
  // Each statement says what its rows are.
  const all = <Row>(sql: string) => rowsOf(sql) as Row[]
  const grants = all<{ id: string; dataset: string; plan: string }>(
    'SELECT subscription_id AS id, dataset, plan FROM grants ORDER BY 1, 2',
  )
  const subscriptions = all<Omit<SubscriptionRow, 'grants'>>(
    `SELECT id, expires_at AS expiresAt, cancelled_at AS cancelledAt, anchor_day AS anchorDay,
         (SELECT count(entry) FROM orders WHERE subscription_id = subscriptions.id) AS entries
       FROM subscriptions ORDER BY created_at, id`,
  ).map((row) => {
    const own = grants.filter(({ id }) => id === row.id)
    return { ...row, grants: new Map(own.map(({ dataset, plan }) => [dataset, plan])) }
  })
  return {
    subscriptions: byId(subscriptions),
    tokens: byId(
      all<TokenRow>(
        `SELECT id, lower(hex(hash)) AS hash, subscription_id AS subscription,
             expires_at AS expiresAt, revoked_at AS revokedAt FROM tokens`,
      ),
    ),
    orders: byId(all<OrderRow>(ordersSql)),
    scheduled: byId(
      all<ScheduledRow>(
        `SELECT id, subscription_id AS subscription, items, expires_at AS at FROM orders
           WHERE state = 'confirmed' AND entry IS NULL ORDER BY ordered_at, id`,
      ),
    ),
    receipts: all<{ number: string }>(
      `SELECT receipt_year || '-' || receipt_number AS number FROM orders
         WHERE receipt_number IS NOT NULL ORDER BY receipt_year, receipt_number`,
    ).map(({ number }) => number),
    letters: byId(
      all<LetterRow>(
        `SELECT 'letter-' || id || '-' || created_at AS id, kind, state, last_error AS error
           FROM letters`,
      ),
    ),
    usage: new Map(
      all<{ key: string; rows: number }>(
        "SELECT subscription_id || ' ' || dataset || ' ' || period AS key, rows FROM usage",
      ).map(({ key, rows }) => [key, rows]),
    ),
  }
}

const ordersSql = `SELECT id, kind, state, subscription_id AS subscription,
    amount_rub AS amountRub, pay_until AS payUntil, ordered_at AS orderedAt,
    paper, receipt_year || '-' || receipt_number AS receipt,
    (SELECT count(*) FROM payments
     WHERE order_id = orders.id AND outcome = 'confirmed') AS paid,
    (SELECT count(*) FROM letters WHERE order_id = orders.id
       AND kind IN ('new-token', 'order-confirmed')) AS confirmations,
    (SELECT count(*) FROM audit
     WHERE subject = orders.id AND action = 'order.confirmed') AS audited,
    (SELECT count(*) FROM letters WHERE order_id = orders.id AND kind = 'order-done') AS told,
    (SELECT details ->> 'by' FROM audit
     WHERE subject = orders.id AND action IN ('order.confirmed', 'order.declined')) AS "by"
  FROM orders WHERE by_owner = 0 ORDER BY ordered_at, id`

const emptyBooks: Books = {
  subscriptions: new Map(),
  tokens: new Map(),
  orders: new Map(),
  scheduled: new Map(),
  receipts: [],
  letters: new Map(),
  usage: new Map(),
}

function byId<Id, Row extends { readonly id: Id }>(rows: readonly Row[]): ReadonlyMap<Id, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
