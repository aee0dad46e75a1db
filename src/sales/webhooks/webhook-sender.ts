import type { Catalog } from '../../catalog.js'
import {
  dropDelivery,
  endDelivery,
  removeOldDeliveries,
  takeDelivery,
} from '../../control/hooks/deliveries.js'
import type { HeldDelivery } from '../../control/hooks/deliveries.js'
import { recordEvent } from '../../control/hooks/events.js'
import { findWatchList } from '../../control/hooks/watch-lists.js'
import type { WatchList } from '../../control/hooks/watch-lists.js'
import { endWebhook } from '../../control/hooks/webhooks.js'
import type { Webhook } from '../../control/hooks/webhooks.js'
import type { Jobs } from '../../control/jobs.js'
import type { ControlStore } from '../../control/store/store.js'
import { Rounds, Seldom } from '../../rounds.js'
import { nextAttempt, waitMaxMs, withRetries } from '../retries.js'
import { findEvents } from './find-events.js'
import { goneStatus, sendTest } from './own-webhooks.js'
import { sendMessage } from './send-message.js'
import type { MessageParts, Receipt } from './send-message.js'

type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void

/**
 * Whether something in a watch list changed with a version, as its subscription sees it.
 * A rejection is tried again like a receiver that does not answer.
 */
export type HasChanged = (
  asked: { readonly subscriptionId: string; readonly list: WatchList; readonly version: string },
  signal: AbortSignal,
) => Promise<boolean>

export interface WebhookSenderParts extends MessageParts {
  readonly store: ControlStore
  readonly jobs: Jobs
  readonly catalog: () => Catalog
  readonly hasChanged: HasChanged
  readonly logger: { readonly info: Log; readonly warn: Log; readonly error: Log }
}

const roundMs = 5000
const unreadText = 'the changes could not be read'
const findEveryMs = 60_000
/** Longer than an attempt takes: a process that holds a delivery longer has died. */
const holdMs = 120_000
/** Messages at a time: receivers may be slow. */
const sendingMax = 16
const messagesMax = 1000

/**
 * Sends the messages of webhooks: every five seconds all that are due. Every minute it finds what
 * happened, and removes what is old. Of several servers, the one that sends the letters does this.
 *
 * Each message is sent at least once, with the same id: its attempt is saved after the answer.
 */
export class WebhookSender {
  readonly #parts: WebhookSenderParts
  readonly #rounds: Rounds
  readonly #stopping = new AbortController()
  readonly #finding: Seldom

  constructor(parts: WebhookSenderParts) {
    this.#parts = parts
    this.#finding = new Seldom(findEveryMs, parts.clock.now)
    this.#rounds = new Rounds({
      every: parts.clock.every,
      everyMs: roundMs,
      work: () => this.#deliver(),
      report: (cause) => {
        parts.logger.error({ err: cause }, 'sending webhooks failed; the next round tries again')
      },
    })
  }

  /** Starts a round now and every five seconds. */
  start(): void {
    void this.#rounds.start()
  }

  /** Runs a round that begins after this call. Never rejects: a fault is logged. */
  send(): Promise<void> {
    return this.#rounds.runAgain()
  }

  /** Sends a message of the type `test` to a webhook now. */
  test(webhook: Webhook): Promise<Receipt> {
    return sendTest(this.#parts, webhook)
  }

  /** Interrupts the messages that are being sent: they are tried again later. */
  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#rounds.close()
  }

  async #deliver(): Promise<void> {
    const { store, jobs, clock } = this.#parts
    if (!(await jobs.tryTake('letters'))) return
    const sending = new Set<Promise<void>>()
    for (let count = 0; count < messagesMax && !this.#rounds.isClosed; count += 1) {
      await this.#finding.run((now) => this.#find(now))
      const due = await takeDelivery(store, { now: clock.now(), holdMs, waitMaxMs })
      if (due) {
        const sent: Promise<void> = this.#send(due).finally(() => sending.delete(sent))
        sending.add(sent)
      } else if (sending.size === 0) return
      if (!due || sending.size === sendingMax) await Promise.race(sending)
    }
    await Promise.all(sending)
  }

  async #find(now: number): Promise<void> {
    const { store, catalog } = this.#parts
    for (const event of await findEvents(store, catalog(), now)) {
      await recordEvent(store, event, now)
    }
    await removeOldDeliveries(store, now)
  }

  /** Never rejects: a delivery whose end is not saved is free when its hold is over. */
  async #send(due: HeldDelivery): Promise<void> {
    const { store, clock, logger } = this.#parts
    const { webhookId, n, type } = due
    const fields = { webhook: webhookId, n, type }
    try {
      const receipt = await this.#attempt(due)
      if (receipt === null) return await dropDelivery(store, due)
      const now = clock.now()
      const isDone = receipt.error === null || receipt.status === goneStatus
      const end = {
        ...receipt,
        now,
        nextAttemptAt: isDone ? null : nextAttempt(due.triedFrom, now),
      }
      await withRetries(clock, () => endDelivery(store, due, end))
      await this.#endIfGone(due, receipt)
      const { status, error } = receipt
      if (error === null) logger.info({ ...fields, status }, 'webhook delivered')
      else logger.warn({ ...fields, status, reason: error }, 'webhook not delivered')
    } catch (cause) {
      logger.error({ ...fields, err: cause }, 'a webhook was not sent; it is tried again')
    }
  }

  /** Null if nothing that the webhook watches has changed. */
  async #attempt(due: HeldDelivery): Promise<Receipt | null> {
    const { webhookId, n, type } = due
    // A list may be another one when a message is sent again: it is judged once.
    const isJudged = due.lastAttemptAt !== null && due.lastError !== unreadText
    if (type === 'dataset.version' && due.watch !== null && !isJudged) {
      const watched = await this.#isWatched(due, due.watch)
      if (watched !== true) return watched
    }
    const message = { id: `msg_${webhookId.slice('whk_'.length)}_${n}`, type }
    const data = JSON.parse(due.data) as object
    return await sendMessage(this.#parts, due, { ...message, data }, this.#stopping.signal)
  }

  async #isWatched(due: HeldDelivery, name: string): Promise<true | Receipt | null> {
    const { store, hasChanged, logger } = this.#parts
    const list = await findWatchList(store, due.subscriptionId, name)
    if (list?.dataset !== due.dataset) return null
    try {
      const asked = { subscriptionId: due.subscriptionId, list, version: due.occasion }
      return (await hasChanged(asked, this.#stopping.signal)) || null
    } catch (cause) {
      logger.warn({ webhook: due.webhookId, n: due.n, err: cause }, 'changes were not read')
      return { status: null, error: unreadText }
    }
  }

  async #endIfGone(
    webhook: Pick<Webhook, 'webhookId' | 'subscriptionId'>,
    { status }: Receipt,
  ): Promise<void> {
    if (status !== goneStatus) return
    await endWebhook(this.#parts.store, webhook, this.#parts.clock.now())
    this.#parts.logger.warn({ webhook: webhook.webhookId }, 'webhook ended: its receiver is gone')
  }
}
