import t from 'tap'
import { email, startSessions } from '../sales/sessions/fixtures/signing-in.js'
import { firmsOptions, startPaidFirms } from './fixtures/firms-world.js'

// Guarantee: a page of a person who signed in charges exactly the rows that it shows, each dataset
// its own, once a day; a link of another site, or a browser that loads pages ahead, costs nothing.

const all = [
  { dataset: 'firms', plan: 'all' },
  { dataset: 'deals', plan: 'all' },
]
const page = '/datasets/firms/09?lang=en'
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

await t.test('rows that are shown are charged, once a day, the workbook too', async (t) => {
  const { get, used, clock } = await startPaidFirms(t, all)
  const rows = async () => [await used('firms'), await used('deals')]
  const { status, text } = await get(page)
  t.equal(status, 200)
  t.match(textOf(text), 'This page cost 24 rows.')
  t.match(textOf(text), 'The 20 rows that are newest; there are more.')
  t.notMatch(text, 'das_demo')
  t.same(await rows(), [4, 20])
  t.match(textOf((await get(page)).text), 'This page cost nothing.')
  t.equal((await get(`${page}&format=xlsx`)).status, 200)
  t.match((await get(`${page}&line=margin`)).text, 'Firm &lt;9&gt;')
  t.same(await rows(), [4, 20], 'the same rows are free')
  t.match(textOf((await get('/datasets/firms/02?lang=en')).text), 'Firm &lt;2&gt;')
  t.same(await rows(), [4, 20], 'what the demo has is free')
  clock.ms += 24 * 3600 * 1000
  await get(page)
  t.same(await rows(), [8, 40], 'a day later they cost again')
  const compared = await get('/datasets/firms/compare?lang=en&keys=09,10')
  t.match(textOf(compared.text), 'This page cost 9 rows.', 'four periods of each, one median')
  t.same(await rows(), [17, 40])
  const links = [...compared.text.matchAll(/href="([^"]*compare\?[^"]*period=2022[^"]*)"/g)]
  t.match(links.join(), /chart=net_margin[^]*format=xlsx|format=xlsx[^]*chart=net_margin/)
  for (const [, link = ''] of links) t.equal((await get(link.replaceAll('&amp;', '&'))).status, 200)
  t.same(await rows(), [17, 40], 'the chart of another line and the workbook are free')
})

await t.test('nothing is read before a person asks for it', async (t) => {
  const { get, used } = await startPaidFirms(t, all)
  for (const headers of [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-origin', 'sec-purpose': 'prefetch' },
    { 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch;prerender' },
  ]) {
    for (const url of [page, `${page}&format=xlsx`, '/datasets/firms/compare?keys=08,09&lang=en']) {
      const { status, text } = await get(url, headers)
      t.equal(status, 200)
      t.match(textOf(text), 'It costs the rows that it shows')
      t.notMatch(text, 'Firm &lt;9')
    }
  }
  t.same([await used('firms'), await used('deals')], [0, 0])
  t.equal((await get(page, { 'sec-fetch-site': 'none' })).status, 200)
  t.equal(await used('firms'), 4, 'a typed address reads them')
})

await t.test('what is not granted is the 404 of what does not exist', async (t) => {
  const { get, used } = await startPaidFirms(t, [{ dataset: 'deals', plan: 'all' }])
  const unknown = await get('/datasets/firms/nobody')
  t.equal(unknown.status, 404)
  const normal = (text: string) => text.replaceAll(/\/datasets\/firms\/\w+/g, '')
  t.equal(normal((await get('/datasets/firms/09')).text), normal(unknown.text))
  t.equal(await used('deals'), 0)
})

await t.test('a quota that ends is said, and nothing beyond it is delivered', async (t) => {
  const { get, used } = await startPaidFirms(t, [{ dataset: 'firms', plan: 'few' }])
  const first = await get(page)
  t.notMatch(first.text, 'Deals', 'no grant for them')
  const second = await get('/datasets/firms/10?lang=en')
  t.match(textOf(second.text), 'This page cost 2 rows.')
  t.match(textOf(second.text), 'These are the first 2 rows.')
  t.equal(await used('firms'), 6)
  const third = await get('/datasets/firms/11?lang=en')
  t.equal(third.status, 429)
  t.notMatch(third.text, 'Firm &lt;11')
  t.match(textOf((await get(page)).text), 'This page cost nothing.', 'what was paid is still free')
  t.equal(await used('firms'), 6)
})

await t.test('a person who signs in by a mailed code pays once for a page', async (t) => {
  const { world, signIn } = await startSessions(t, firmsOptions(t))
  const { token } = await world.subscribe(['firms:all', 'deals:all'])
  const cookie = await signIn(email)
  const open = async (url: string, site = 'same-origin', of = cookie) => {
    const headers = { cookie: of, 'sec-fetch-site': site, accept: 'text/html' }
    const { status, text } = await world.get(url, undefined, { headers })
    return { status, words: textOf(text) }
  }
  const used = async () => {
    const { body } = await world.get('/v1/account', token)
    const datasets = body['datasets'] as readonly { name: string; rows: { used: number } }[]
    return datasets.map(({ rows }) => rows.used)
  }
  t.equal((await open(page, 'same-origin', '')).status, 404, 'a visitor sees the demo only')
  const elsewhere = await open(page, 'cross-site')
  t.match(elsewhere.words, 'It costs the rows that it shows')
  t.notMatch(elsewhere.words, 'Firm &lt;9')
  t.same(await used(), [0, 0], 'a link of another site charges nothing')
  const first = await open(page)
  t.match(first.words, 'Firm &lt;9')
  t.match(first.words, 'This page cost 24 rows.')
  t.same(await used(), [4, 20])
  world.clock.ms += 23 * 3600 * 1000
  t.match((await open(page)).words, 'This page cost nothing.')
  t.same(await used(), [4, 20], 'the same page is free within a day')
})
