import t from 'tap'
import { putWatchList } from '../../src/control/hooks/watch-lists.js'
import { addWebhook, endWebhook } from '../../src/control/hooks/webhooks.js'
import { createSubscription } from '../../src/control/subscriptions.js'
import { startOfTest } from '../support/world.js'
import { email, startSessions } from './sessions/fixtures/signing-in.js'

const { world, store, signIn, open, askAccess } = await startSessions(t)
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
    en: ['Webhooks', '80 % of the rows are used', 'active', 'ended: the receiver', 'Watch lists'],
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

// Guarantee: the page's script acts for the subscriptions of who signed in, and for no other.
await t.test('who signed in manages them by the paths of the API', async (t) => {
  const { access } = (await askAccess(cookie, subscriptionId)).body
  const token = String(access)
  const added = await world.post('/v1/webhooks', token, {
    url: 'https://example.org',
    events: ['quota.used'],
  })
  t.match([added.status, added.body], [201, { secret: /^whsec_/ }])
  const listed = (await world.get('/v1/webhooks', token)).body.data
  t.equal(listed.length, 3)
  t.notMatch(JSON.stringify(listed), /whsec_|other\.example/)
  t.match((await world.get('/v1/watch', token)).body.data, [{ name: 'mine', count: 2 }])
})
