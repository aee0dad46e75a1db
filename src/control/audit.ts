import { insertInto, sql, sqlList } from './store/sql.js'
import type { ControlStore } from './store/store.js'
import { withoutTokens } from './tokens/token-format.js'

/** What was done. A name is never given another meaning: the trail keeps it forever. */
export type AuditAction =
  | 'subscription.created'
  | 'subscription.extended'
  | 'subscription.changed'
  | 'subscription.cancelled'
  | 'token.issued'
  | 'token.reissued'
  | 'token.revoked'
  | 'order.placed'
  | 'order.confirmed'
  | 'order.declined'
  | 'order.expired'
  | 'payment.received'
  | 'connection.made'
  | 'connection.ended'
  | 'webhook.added'
  | 'webhook.deleted'
  | 'webhook.ended'
  | 'webhook.secret'
  | 'letter.sent'
  | 'letter.failed'
  | 'letter.dropped'
  | 'usage.repaired'
  | 'reload.requested'
  | 'reload.withdrawn'
  | 'dataset.added'
  | 'dataset.imported'
  | 'dataset.unavailable'
  | 'dataset.removed'
  | 'version.published'
  | 'version.refused'
  | 'version.damaged'
  | 'version.withdrawn'
  | 'pack.made'
  | 'pack.removed'
  | 'pack.failed'
  | 'registry.loaded'
  | 'registry.refused'
  | 'server.started'

type Detail =
  string | number | boolean | null | readonly Detail[] | { readonly [name: string]: Detail }

/** Facts about an action, by names in snake_case; times are ISO 8601 in UTC. Never a token. */
export type AuditDetails = Readonly<Record<string, Detail>>

/** An action that is to be recorded. */
export interface AuditedAction {
  readonly action: AuditAction
  /** The id or name of what it was done to. */
  readonly subject: string
  readonly details?: AuditDetails
  /** Ms since the epoch. */
  readonly now: number
}

/** A recorded action. */
export interface AuditEntry {
  readonly id: number
  /** Ms since the epoch. */
  readonly recordedAt: number
  /** The OS user of a command, or `server`. */
  readonly actor: string
  readonly action: AuditAction
  readonly subject: string
  readonly details: AuditDetails
}

/**
 * Adds an action of the store's actor to the audit trail. In a `write` of the caller, it is durable
 * together with the change, or neither is. A token in a text, such as a mail server's answer, is
 * left out.
 *
 * @throws service_unavailable when the trail can't be written
 */
export async function recordAction(
  store: ControlStore,
  { action, subject, details = {}, now }: AuditedAction,
): Promise<void> {
  await store.run(
    insertInto('audit', {
      recordedAt: now,
      actor: store.actor,
      action,
      subject: withoutTokens(subject),
      details: withoutTokens(JSON.stringify(details)),
    }),
  )
}

/** When the newest action was recorded, in ms since the epoch; null before the first one. */
export async function newestActionAt(store: ControlStore): Promise<number | null> {
  const [row] = await store.all<{ newest: number | null }>(
    sql`SELECT max(recorded_at) AS newest FROM audit`,
  )
  return row?.newest ?? null
}

/**
 * Recorded actions, oldest first: those from `since` on (ms since the epoch), and those that were
 * done to `subject` or name it in their details.
 */
export async function listActions(
  store: ControlStore,
  {
    since = null,
    subject = null,
  }: { readonly since?: number | null; readonly subject?: string | null },
): Promise<AuditEntry[]> {
  const isSince = since === null ? sql`true` : sql`recorded_at >= ${since}`
  const isAbout =
    subject === null
      ? sql`true`
      : sql`(subject = ${subject} OR replace(details, ${JSON.stringify(subject)}, '') <> details)`
  const rows = await store.all<Omit<AuditEntry, 'details'> & { readonly details: string }>(
    sql`SELECT id, recorded_at AS "recordedAt", actor, action, subject, details FROM audit
     WHERE ${isSince} AND ${isAbout} ORDER BY id`,
  )
  return (
    rows
      // This file wrote the text, and the database checked that it is JSON.
      .map((row) => ({ ...row, details: JSON.parse(row.details) as AuditDetails }))
      .filter((row) => subject === null || row.subject === subject || names(row.details, subject))
  )
}

/** Who did the newest of these actions to a subject; null where none was done. */
export async function whoDid(
  store: ControlStore,
  subject: string,
  actions: readonly AuditAction[],
): Promise<{ readonly actor: string; readonly by: string | null } | null> {
  const [row] = await store.all<{ readonly actor: string; readonly details: string }>(
    sql`SELECT actor, details FROM audit
     WHERE subject = ${subject} AND action IN (${sqlList(actions)}) ORDER BY id DESC LIMIT 1`,
  )
  if (!row) return null
  const { by } = JSON.parse(row.details) as AuditDetails
  return { actor: row.actor, by: typeof by === 'string' ? by : null }
}

/** Whether a text is one of the values, at any depth. */
function names(detail: Detail | AuditDetails, text: string): boolean {
  if (typeof detail !== 'object' || detail === null) return detail === text
  return Object.values(detail).some((each: Detail) => names(each, text))
}
