import { requireSubscriber } from '../access/principal.js'
import { grantsOfTexts } from '../control/grants.js'
import { listDeliveries } from '../control/hooks/deliveries.js'
import { deleteWatchList } from '../control/hooks/watch-lists.js'
import { deleteWebhook } from '../control/hooks/webhooks.js'
import type { Webhook } from '../control/hooks/webhooks.js'
import { ordersOfSubscription } from '../control/orders.js'
import { notFound } from '../errors.js'
import { html } from '../portal/html.js'
import type { Caller, Service } from '../service.js'
import { isoTime } from '../text.js'
import { backToAccount } from './account-form.js'
import type { AccountView } from './account-form.js'
import { deliveriesPage } from './account-hooks.js'
import { quotePage, receiptPage } from './account-orders.js'
import type { Wanted } from './account-orders.js'
import { reissueCodePage, secretPage, testPage } from './account-page.js'
import { accountWords } from './account-words.js'
import { finishReissue, startReissue } from './orders/new-token.js'
import { tokenPage } from './orders/routes/order-pages.js'
import { refusalOf } from './orders/routes/read-form.js'
import type { SentForm } from './orders/routes/read-form.js'
import { typedCode } from './orders/routes/shop-routes.js'
import type { Shop } from './orders/shop.js'
import {
  orderChange,
  orderRenewal,
  quoteChange,
  quoteRenewal,
} from './orders/subscription-orders.js'
import { findWebhook, resend } from './webhooks/own-webhooks.js'
import { putOwnList } from './webhooks/routes/watch-routes.js'
import { addOwnWebhook, renewSecret } from './webhooks/routes/webhook-json.js'
import type { WebhookSender } from './webhooks/webhook-sender.js'

const deliveriesMax = 100

export interface ActParts {
  readonly service: Pick<Service, 'endConnection'>
  readonly shop: Shop
  readonly sender: Pick<WebhookSender, 'test' | 'send'>
}

/** A form that the holder of a subscription sent. */
interface Asked extends ActParts, Pick<SentForm, 'request' | 'reply'> {
  readonly view: AccountView
  readonly caller: Caller
  /** The subscription. */
  readonly id: string
  /** The text of a field; '' without it. */
  readonly text: (name: string) => string
  readonly fields: URLSearchParams
}

/** Does what a form asks for; returns the page that answers it, null = the account. */
type Act = (asked: Asked) => Promise<string | null>

/** What forms of the account do, by the name of the button. */
export const accountActs: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['quote', quote],
  ['order', order],
  ['receipt', receipt],
  ['end', endConnection],
  ['code', mailCode],
  ['reissue', reissue],
  ['add-webhook', addHook],
  ['delete-webhook', deleteHook],
  ['test-webhook', testHook],
  ['secret', newSecret],
  ['deliveries', deliveries],
  ['resend', sendAgain],
  ['add-list', addList],
  ['delete-list', deleteList],
])

function wantedIn({ fields, text }: Asked): Wanted {
  if (fields.has('months')) return { months: Number(text('months')) }
  return { plans: grantsOfTexts(fields.getAll('plan').filter((plan) => plan !== '')) }
}

async function quote(asked: Asked): Promise<string> {
  const { shop, id, view } = asked
  const wanted = wantedIn(asked)
  const found =
    'months' in wanted
      ? await quoteRenewal(shop, id, wanted.months)
      : await quoteChange(shop, id, wanted.plans)
  return quotePage(view, shop, wanted, found)
}

async function order(asked: Asked): Promise<null> {
  const { shop, id, text } = asked
  const wanted = wantedIn(asked)
  // Any price is above that of a form without one.
  const shownRub = /^\d{1,15}$/.test(text('amount')) ? Number(text('amount')) : -1
  if ('months' in wanted) await orderRenewal(shop, id, wanted.months, shownRub)
  else await orderChange(shop, id, wanted.plans, shownRub)
  return null
}

async function receipt({ shop, id, text, view }: Asked): Promise<string> {
  const orders = await ordersOfSubscription(shop.store, id)
  const found = orders.find(({ orderId }) => orderId === text('order'))
  if (found) return receiptPage(view, shop, found)
  throw notFound('This subscription has no such order.')
}

async function endConnection({ service, caller, text }: Asked): Promise<null> {
  await service.endConnection(caller, text('connection'))
  return null
}

async function mailCode({ shop, id, view, request }: Asked): Promise<string> {
  return reissueCodePage(view, await startReissue(shop, id, request.ip), null)
}

async function reissue(asked: Asked): Promise<string> {
  const { shop, id, caller, view, fields, reply } = asked
  const { context, proof } = view
  const say = accountWords(context.language)
  const typed = typedCode(fields)
  const endsEarlier = fields.get('earlier') === 'end'
  try {
    const issued = await finishReissue(shop, typed, { subscriptionId: id, endsEarlier })
    const { token, previousValidUntil: until } = issued
    const earlier =
      endsEarlier || until === null
        ? say.earlierEnded
        : say.earlierUntil(context.words.day(isoTime(until)))
    const back = proof.name === 'token' ? { ...view, proof: { ...proof, value: token } } : view
    const { expiresAt } = requireSubscriber(caller.principal)
    return tokenPage(
      context,
      token,
      expiresAt,
      html`<p>${earlier}</p>
        ${backToAccount(back)}`,
    )
  } catch (cause) {
    return reissueCodePage(view, typed.codeId, refusalOf(reply, cause))
  }
}

function hookOf({ shop, id, text }: Asked): Promise<Webhook> {
  return findWebhook(shop.store, id, text('webhook'))
}

async function addHook({ shop, id, text, fields, view }: Asked): Promise<string> {
  const watch = text('watch')
  const hook = { url: text('url'), events: fields.getAll('event'), ...(watch !== '' && { watch }) }
  const { url, secret } = await addOwnWebhook(shop.store, shop.mailKey, id, hook, shop.now())
  return secretPage(view, url, secret)
}

async function deleteHook(asked: Asked): Promise<null> {
  await deleteWebhook(asked.shop.store, await hookOf(asked), asked.shop.now())
  return null
}

async function testHook(asked: Asked): Promise<string> {
  const hook = await hookOf(asked)
  const { error } = await asked.sender.test(hook)
  return testPage(asked.view, hook.url, error)
}

async function newSecret(asked: Asked): Promise<string> {
  const { shop, view } = asked
  const hook = await hookOf(asked)
  const { secret } = await renewSecret(shop.store, shop.mailKey, hook, shop.now())
  return secretPage(view, hook.url, secret)
}

async function deliveries(asked: Asked): Promise<string> {
  const { shop, view, text } = asked
  const hook = await hookOf(asked)
  const upTo = /^\d{1,9}$/.test(text('upto')) ? Number(text('upto')) : Number.MAX_SAFE_INTEGER
  const limit = deliveriesMax + 1
  const rows = await listDeliveries(shop.store, hook.webhookId, { upTo, limit })
  const next = rows[deliveriesMax]?.n ?? null
  return deliveriesPage(view, hook, rows.slice(0, deliveriesMax), next)
}

async function sendAgain(asked: Asked): Promise<string> {
  const { shop, sender, text } = asked
  await resend(shop.store, await hookOf(asked), text('n'), shop.now())
  void sender.send()
  return await deliveries(asked)
}

async function addList({ shop, caller, text }: Asked): Promise<null> {
  const lines = text('values')
    .split('\n')
    .map((line) => line.trim())
  const values = lines.filter((line) => line !== '')
  const list = { dataset: text('dataset'), column: text('column'), values }
  await putOwnList(shop.store, caller, text('list'), list)
  return null
}

/** A list that is gone already stays so. */
async function deleteList({ shop, id, text }: Asked): Promise<null> {
  await deleteWatchList(shop.store, id, text('list'))
  return null
}
