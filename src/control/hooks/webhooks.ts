import { dayMs } from '../../clock.js'
import { badRequest } from '../../errors.js'
import { recordAction } from '../audit.js'
import type { AuditAction } from '../audit.js'
import { insertInto, sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'
import { isoTime } from '../../text.js'
import { createId } from '../tokens/base62.js'
import { findWatchList } from './watch-lists.js'

/** What a webhook can be sent. */
export const eventTypes = [
  'dataset.version',
  'quota.80',
  'quota.used',
  'subscription.ending',
] as const
export type EventType = (typeof eventTypes)[number]

/** Webhooks of a subscription. */
const webhooksMax = 10

/** An address that is told of events; times in ms since the epoch, UTC. */
export interface Webhook {
  readonly webhookId: string
  readonly subscriptionId: string
  /** May hold a secret of the receiver: it is shown to its subscription only. */
  readonly url: string
  readonly events: readonly EventType[]
  /** `dataset.version` is sent only when something in this watch list changed. */
  readonly watch: string | null
  /** `ended`: its receiver answered 410, and nothing more is sent. */
  readonly state: 'active' | 'ended'
  readonly createdAt: number
  /** How often the secret was changed. */
  readonly secretNumber: number
  readonly secretChangedAt: number
}

type WebhookRow = Omit<Webhook, 'events'> & { readonly events: string }

/** The columns of a webhook that is called `w`. */
export const webhookColumns = sql`w.id AS "webhookId", w.subscription_id AS "subscriptionId", w.url,
  w.events, w.watch, w.state, w.created_at AS "createdAt", w.secret_number AS "secretNumber",
  w.secret_changed_at AS "secretChangedAt"`

/** @throws bad_request for one too many, and for an unknown watch list */
export async function addWebhook(
  store: ControlStore,
  {
    now,
    ...webhook
  }: Pick<Webhook, 'subscriptionId' | 'url' | 'events' | 'watch'> & {
    readonly now: number
  },
): Promise<Webhook> {
  const { subscriptionId, url, events, watch } = webhook
  const webhookId = createId(store.random, 'whk')
  await store.write(async (tx) => {
    if (watch !== null && !(await findWatchList(tx, subscriptionId, watch))) {
      throw badRequest(`watch: there is no watch list "${watch}". PUT /v1/watch/${watch} adds it.`)
    }
    if ((await listWebhooks(tx, subscriptionId)).length >= webhooksMax) {
      throw badRequest(`A subscription has at most ${webhooksMax} webhooks. Delete one first.`)
    }
    await tx.run(
      insertInto('webhooks', {
        ...{ id: webhookId, subscription_id: subscriptionId, url, events: events.join(' '), watch },
        ...{ state: 'active', created_at: now, last_n: 0 },
        ...{ secret_number: 0, secret_changed_at: now },
      }),
    )
    await note(tx, 'webhook.added', { webhookId, subscriptionId }, now)
  })
  const times = { createdAt: now, secretNumber: 0, secretChangedAt: now }
  return { ...webhook, webhookId, state: 'active', ...times }
}

/** The webhooks of a subscription, or of all (null), oldest first, or the one of this id. */
export async function listWebhooks(
  store: ControlStore,
  subscriptionId: string | null,
  webhookId?: string,
): Promise<readonly Webhook[]> {
  const isOwn = subscriptionId === null ? sql`true` : sql`w.subscription_id = ${subscriptionId}`
  const isAsked = webhookId === undefined ? sql`true` : sql`w.id = ${webhookId}`
  const rows = await store.all<WebhookRow>(
    sql`SELECT ${webhookColumns} FROM webhooks w
     WHERE ${isOwn} AND ${isAsked} ORDER BY w.created_at, w.id`,
  )
  return rows.map((row) => ({ ...row, events: row.events.split(' ') as EventType[] }))
}

/** Deletes a webhook with its deliveries. */
export async function deleteWebhook(
  store: ControlStore,
  webhook: Webhook,
  now: number,
): Promise<void> {
  await store.write(async (tx) => {
    const deleted = await tx.run(sql`DELETE FROM webhooks WHERE id = ${webhook.webhookId}`)
    if (deleted > 0) await note(tx, 'webhook.deleted', webhook, now)
  })
}

/** Ends a webhook: what waits is not sent. */
export async function endWebhook(
  store: ControlStore,
  webhook: Pick<Webhook, 'webhookId' | 'subscriptionId'>,
  now: number,
): Promise<void> {
  await store.write(async (tx) => {
    const ended = await tx.run(
      sql`UPDATE webhooks SET state = 'ended' WHERE id = ${webhook.webhookId} AND state = 'active'`,
    )
    if (ended > 0) await note(tx, 'webhook.ended', webhook, now)
  })
}

/** An earlier secret signs for so long after a change. */
export const earlierSecretMs = dayMs

/** Gives a webhook its next secret. @throws bad_request while the one before also signs */
export async function changeSecret(
  store: ControlStore,
  webhook: Webhook,
  now: number,
): Promise<Webhook> {
  return await store.write(async (tx) => {
    const [known = webhook] = await listWebhooks(tx, null, webhook.webhookId)
    const earlierEnds = known.secretChangedAt + earlierSecretMs
    if (known.secretNumber > 0 && now < earlierEnds) {
      throw badRequest(
        `The secret before this one signs until ${isoTime(earlierEnds)}. Ask again then, or ` +
          'delete the webhook and add it again: that makes a secret at once, and its waiting ' +
          'messages are lost.',
      )
    }
    const secretNumber = known.secretNumber + 1
    await tx.run(
      sql`UPDATE webhooks SET secret_number = ${secretNumber}, secret_changed_at = ${now}
       WHERE id = ${webhook.webhookId}`,
    )
    await note(tx, 'webhook.secret', webhook, now)
    return { ...webhook, secretNumber, secretChangedAt: now }
  })
}

/** The trail never has the URL, which may hold a secret. */
async function note(
  tx: ControlStore,
  action: AuditAction,
  { webhookId, subscriptionId }: Pick<Webhook, 'webhookId' | 'subscriptionId'>,
  now: number,
): Promise<void> {
  const details = { subscription: subscriptionId }
  await recordAction(tx, { action, subject: webhookId, details, now })
}
