import t from 'tap'
import { findWatchList, putWatchList } from '../../src/control/hooks/watch-lists.js'
import { addWebhook, endWebhook, listWebhooks } from '../../src/control/hooks/webhooks.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import { startOfTest } from '../support/world.js'
import { openShopText, shopRegistry, startShop } from '../portal/fixtures/shop-world.js'
import { email, startSessions } from './sessions/fixtures/signing-in.js'

const { world, store, signIn, open, post } = await startSessions(t)
const now = startOfTest
const grants = [{ dataset: 'things', plan: 'pro' }]
const sold = {
  grants,
  language: 'en',
  months: 12,
  globalRows: null,
  priceRub: 0,
  now: () => now,
} as const
const { subscriptionId } = await createSubscription(store, { ...sold, email })
const other = await createSubscription(store, { ...sold, email: 'other@example.org' })
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const cookie = await signIn()

// Guarantee: the account shows webhooks and lists of the own subscriptions, never a secret.
await t.test('webhooks and watch lists are readable without a script', async (t) => {
  t.match(
    textOf((await open('/account?lang=en', cookie)).text),
    /There are no webhooks\..*There are no watch lists\./,
  )
  const list = { name: 'mine', dataset: 'things', column: 'id', values: ['1', '2'], fields: [] }
  await putWatchList(store, subscriptionId, list)
  await putWatchList(store, other.subscriptionId, { ...list, name: 'theirs' })
  const hook = {
    url: 'https://example.org/?a=<b>',
    events: ['quota.80'],
    watch: 'mine',
    now,
  } as const
  await addWebhook(store, { ...hook, subscriptionId })
  const ended = await addWebhook(store, { ...hook, watch: null, subscriptionId })
  await endWebhook(store, ended, now)
  const url = 'https://other.example/'
  await addWebhook(store, { ...hook, url, watch: null, subscriptionId: other.subscriptionId })
  const pages = {
    en: ['Webhooks', '80% of the rows are used', 'active', 'ended: the receiver', 'Watch lists'],
    ru: ['Вебхуки', 'использовано 80 % строк', 'действует', 'закончен: получатель', 'Списки'],
  }
  for (const [language, texts] of Object.entries(pages)) {
    const { text } = await open(`/account?lang=${language}`, cookie)
    for (const each of [...texts, 'https://example.org/?a=&lt;b&gt;', 'mine']) {
      t.ok(textOf(text).includes(each), `${language}: ${each}`)
    }
    t.notMatch(text, /whsec_|other\.example|theirs/)
  }
})

/** Sends a form of the account as who signed in. */
const act = (name: string, fields: Readonly<Record<string, string>> = {}) =>
  post('/account?lang=en', cookie, { subscription: subscriptionId, act: name, ...fields })
const plain = 'https://example.org/'

// Guarantee: a secret is shown once, in the answer of the form that made it.
await t.test('webhooks are added, changed and deleted, their secrets shown once', async (t) => {
  const added = await act('add-webhook', { url: plain, event: 'quota.used', watch: '' })
  t.equal(added.status, 200)
  t.equal(added.headers['cache-control'], 'no-store')
  t.match(added.text, /<code>whsec_\S+<\/code>/)
  const listed = await listWebhooks(store, subscriptionId)
  t.equal(listed.length, 3)
  const webhook = listed.find(({ url }) => url === plain)?.webhookId ?? ''
  t.notMatch((await open('/account', cookie)).text, 'whsec_')
  const changed = await act('secret', { webhook })
  t.match(changed.text, /<code>whsec_\S+<\/code>/)
  t.not(changed.text, added.text)
  t.match((await act('deliveries', { webhook })).text, 'There are no messages.')
  t.equal((await act('resend', { webhook, n: '1' })).status, 404)
  const gone = await act('delete-webhook', { webhook })
  t.equal(gone.status, 303)
  t.equal(gone.headers['location'], '/account?lang=en')
  t.equal((await act('secret', { webhook })).status, 404)
  t.notMatch(world.log.join(''), 'whsec_')
})

await t.test('watch lists are stored and deleted; what was refused can be corrected', async (t) => {
  const list = { list: 'own', dataset: 'things', column: 'id', values: '1\r\n 2 \r\n\r\n3\r\n' }
  t.equal((await act('add-list', list)).status, 303)
  t.match(await findWatchList(store, subscriptionId, 'own'), { values: ['1', '2', '3'] })
  t.equal((await act('delete-list', { list: 'own' })).status, 303)
  t.equal(await findWatchList(store, subscriptionId, 'own'), undefined)
  const many = Array.from({ length: 9000 }, (_, index) => String(index + 1_000_000)).join('\n')
  t.equal(
    (await act('add-list', { ...list, values: many })).status,
    303,
    'as many as the API takes',
  )
  const refused = await act('add-list', { ...list, list: 'A <list>' })
  t.equal(refused.status, 400)
  t.match(refused.text, /role="alert">.*A name of a list has/s)
  t.match(refused.text, 'value="A &lt;list&gt;"')
  t.match(refused.text, /<textarea[^>]*>1\r\n 2/)
  const http = await act('add-webhook', { url: 'http://example.org', event: 'quota.used' })
  t.equal(http.status, 400)
  t.match(http.text, 'value="http://example.org"')
  t.match(http.text, /value="quota.used"\s+checked/)
})

// Guarantee: a form acts for the subscriptions of who signed in, and for no other.
await t.test("another's subscription, webhook or site can do nothing", async (t) => {
  const [theirs] = await listWebhooks(store, other.subscriptionId)
  const webhook = theirs?.webhookId ?? ''
  const foreign = await act('delete-webhook', { subscription: other.subscriptionId, webhook })
  t.equal(foreign.status, 303, 'to the own account')
  t.equal((await act('delete-webhook', { webhook })).status, 404)
  t.equal((await listWebhooks(store, other.subscriptionId)).length, 1)
  const fields = { subscription: subscriptionId, act: 'delete-list', list: 'mine' }
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ]) {
    t.equal((await post('/account', cookie, fields, headers)).status, 403)
  }
  t.equal((await post('/account', '', fields)).status, 303, 'without signing in')
  t.ok(await findWatchList(store, subscriptionId, 'mine'))
})

await t.test('the account of a token is shown to its form alone, and not stored', async (t) => {
  const { token } = await world.subscribe(['things:pro'])
  const shown = await post('/account?lang=en', '', { token: ` ${token} ` })
  t.equal(shown.status, 200)
  t.equal(shown.headers['cache-control'], 'no-store')
  t.equal(shown.headers['set-cookie'], undefined)
  t.match(shown.text, 'There are no webhooks.')
  const demo = await post('/account?lang=en', '', { token: 'das_demo_shop' })
  t.match(demo.text, 'Not counted')
  t.notMatch(demo.text, 'name="act"')
  for (const wrong of ['das_live_x', 'ж', 'a b', `${token}x`, '']) {
    const refused = await post('/account?lang=en', '', { token: wrong })
    t.equal(refused.status, 401)
    t.match(refused.text, 'This token is unknown, was revoked or has expired.')
    t.notMatch(refused.text, 'data-opens', 'the script does not send it again')
  }
  t.match((await open('/account', '')).text, 'data-opens')
  t.notMatch((await open('/account', cookie)).text, 'data-opens')
  t.notMatch(world.log.join(''), token)
})

// Guarantee: a list names its column as its subscription sees it: by a label of a dataset that no
// page shows, and never by that of a hidden column.
await t.test('watch lists show labels of datasets that are not listed', async (t) => {
  const hidden = `  hidden:
    title: Hidden
    files: data/things.parquet
    columns:
      id: {label: {en: Number, ru: Номер}}
      year: {label: {en: Secret, ru: Тайна}, hidden: true}`
  const registry = shopRegistry(openShopText).replace(/ {2}hidden:[^]*things\.parquet/, hidden)
  const shop = await startShop(t, { registry })
  const { subscriptionId: id, token } = await shop.world.subscribe(['hidden:free'])
  const list = { dataset: 'hidden', values: ['1'], fields: [] }
  await putWatchList(shop.store, id, { ...list, name: 'open', column: 'id' })
  await putWatchList(shop.store, id, { ...list, name: 'closed', column: 'year' })
  for (const [lang, label] of Object.entries({ en: 'Number', ru: 'Номер' })) {
    const { text } = await shop.send(`/account?lang=${lang}`, { token })
    t.match(textOf(text), `open Hidden ${label} · id 1`)
    t.match(textOf(text), 'closed Hidden year 1')
    t.notMatch(text, /Secret|Тайна/)
  }
})
