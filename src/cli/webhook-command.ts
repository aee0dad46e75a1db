import type { Command } from 'commander'
import { listDeliveries } from '../control/hooks/deliveries.js'
import { deleteWebhook, eventTypes, listWebhooks } from '../control/hooks/webhooks.js'
import type { Webhook } from '../control/hooks/webhooks.js'
import { keyOf } from '../control/keys.js'
import type { ControlStore } from '../control/store/store.js'
import { showSubscription } from '../control/subscriptions.js'
import { findWebhook, resend, sendTest } from '../sales/webhooks/own-webhooks.js'
import {
  addOwnWebhook,
  deliveryJson,
  renewSecret,
  testJson,
  webhookJson,
} from '../sales/webhooks/routes/webhook-json.js'
import { addGroup, addPrinted, collect } from './command.js'
import type { Flags, Result } from './command.js'
import type { CliParts } from './parts.js'
import { day, minute } from './print.js'
import { linesOrNone } from './table.js'
import { readFilledStore, readStore, withFilledStore } from './state.js'

type AddFlags = Flags & { readonly event: readonly string[]; readonly watch?: string }

/** A command about one webhook. */
interface OneDefinition {
  readonly usage: string
  readonly description: string
  readonly json: string
  readonly open: typeof withFilledStore
  /** `rest` is what the usage line has after the id. */
  readonly run: (
    one: { readonly store: ControlStore; readonly state: string; readonly webhook: Webhook },
    rest: string,
  ) => Promise<Result>
}

const settings = ['state'] as const
const oneSubscription = 'sub_0123456789abcdef'
const oneWebhook = 'whk_0123456789abcdef'
const allNumbers = { upTo: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER }

/** `das webhook …`: the webhooks of subscriptions. */
export function addWebhookCommands(program: Command, parts: CliParts): void {
  const about = 'List, add, remove and test the webhooks of subscriptions.'
  const group = addGroup(program, 'webhook', about, 'das webhook list')
  addPrinted(group, parts, {
    usage: 'list [subscription]',
    description: 'List webhooks: address, events, watch list, state. Secrets are never shown.',
    settings,
    json: 'print [{id, url, events, watch, state, created_at, subscription}]',
    examples: ['das webhook list', `das webhook list ${oneSubscription}`],
    run: ({ state }, _flags, id: string | undefined) => list(parts, state, id),
  })
  addPrinted(group, parts, {
    usage: 'add <subscription> <url>',
    description: 'Add a webhook, and print its secret once.',
    options: (command) =>
      command
        .requiredOption('--event <type>', `${eventTypes.join(', ')}; may be repeated`, collect)
        .option('--watch <list>', 'new versions only when this watch list changed'),
    settings,
    json: 'print {id, url, events, watch, state, created_at, secret}',
    examples: [`das webhook add ${oneSubscription} https://example.org/ --event dataset.version`],
    run: ({ state }, { event: events, watch }: AddFlags, id: string, url: string) =>
      withFilledStore(parts, state, async (store) => {
        await showSubscription(store, id)
        const key = await keyOf(store, state, 'mail.key')
        return issued(
          await addOwnWebhook(store, key, id, { url, events, watch }, parts.clock.now()),
        )
      }),
  })
  addChanges(group, parts)
  addDeliveries(group, parts)
}

function addChanges(group: Command, parts: CliParts): void {
  const { clock } = parts
  addOne(group, parts, {
    usage: 'remove <id>',
    description: 'Delete a webhook with its deliveries.',
    json: 'print {removed: id}',
    open: withFilledStore,
    run: async ({ store, webhook }) => {
      await deleteWebhook(store, webhook, clock.now())
      const id = webhook.webhookId
      return { json: { removed: id }, lines: [`Webhook ${id} is deleted.`] }
    },
  })
  addOne(group, parts, {
    usage: 'test <id>',
    description: 'Send a message of the type test now. Exits with 1 if it is not received.',
    json: 'print {delivered, status, error}',
    open: withFilledStore,
    run: async ({ store, state, webhook }) => {
      const key = await keyOf(store, state, 'mail.key')
      const receipt = await sendTest({ store, key, clock }, webhook)
      const { status, error } = receipt
      return {
        json: testJson(receipt),
        lines: [error === null ? `Delivered: the receiver answered ${status}.` : 'Not delivered.'],
        failure: error === null ? undefined : new Error(error),
      }
    },
  })
  addOne(group, parts, {
    usage: 'secret <id>',
    description: 'Make a new secret and print it once. The earlier one also signs for 24 hours.',
    json: 'print {id, url, events, watch, state, created_at, secret, previous_valid_until}',
    open: withFilledStore,
    run: async ({ store, state, webhook }) => {
      const key = await keyOf(store, state, 'mail.key')
      return issued(await renewSecret(store, key, webhook, clock.now()))
    },
  })
}

function addDeliveries(group: Command, parts: CliParts): void {
  const json = '{n, at, status, error, type, state, attempts, next_attempt_at}'
  addOne(group, parts, {
    usage: 'deliveries <id>',
    description: 'List the messages of the last 30 days, newest first.',
    json: `print [${json}]`,
    open: readFilledStore,
    run: async ({ store, webhook }) => {
      const found = await listDeliveries(store, webhook.webhookId, allNumbers)
      return {
        json: found.map(deliveryJson),
        lines: linesOrNone(parts.stdout, found, 'There were no messages in the last 30 days.', {
          NUMBER: (each) => each.n,
          TYPE: (each) => each.type,
          MADE: (each) => minute(each.createdAt),
          STATE: (each) => each.state,
          ATTEMPTS: (each) => each.attempts,
          'NEXT ATTEMPT': (each) => (each.state === 'waiting' ? minute(each.nextAttemptAt) : null),
          STATUS: (each) => each.status,
          'LAST ERROR': (each) => each.error,
        }),
      }
    },
  })
  addOne(group, parts, {
    usage: 'resend <id> <number>',
    description: 'Make a delivery due again, with the same id: the server sends it within seconds.',
    json: `print ${json}`,
    open: withFilledStore,
    run: async ({ store, webhook }, number) => {
      const delivery = await resend(store, webhook, number, parts.clock.now())
      const line = `Delivery ${delivery.n} is due: the server sends it.`
      return { json: deliveryJson(delivery), lines: [line] }
    },
  })
}

function addOne(group: Command, parts: CliParts, { usage, open, run, ...texts }: OneDefinition) {
  const example = `das webhook ${usage.replace('<id>', oneWebhook).replace('<number>', '7')}`
  addPrinted(group, parts, {
    ...{ ...texts, usage, settings, examples: [example] },
    run: ({ state }, _flags, id: string, rest: string = '') =>
      open(parts, state, async (store) =>
        run({ store, state, webhook: await findWebhook(store, null, id) }, rest),
      ),
  })
}

async function list(parts: CliParts, state: string, id: string | undefined): Promise<Result> {
  const read = id === undefined ? readStore : readFilledStore
  const found = await read(parts, state, async (store) => {
    if (id !== undefined) await showSubscription(store, id)
    return await listWebhooks(store, id ?? null)
  })
  return {
    json: (found ?? []).map((each) => {
      return { ...webhookJson(each), subscription: each.subscriptionId }
    }),
    lines: linesOrNone(parts.stdout, found ?? [], 'There are no webhooks.', {
      WEBHOOK: (each) => each.webhookId,
      SUBSCRIPTION: (each) => each.subscriptionId,
      URL: (each) => each.url,
      EVENTS: (each) => each.events.join(', '),
      'WATCH LIST': (each) => each.watch,
      STATE: (each) => each.state,
      MADE: (each) => day(each.createdAt),
    }),
  }
}

function issued(webhook: { readonly id: string; readonly secret: string }): Result {
  const line = `Secret of ${webhook.id}. Copy it now: it is shown only once.`
  return { json: webhook, lines: [line, '', webhook.secret] }
}
