import t from 'tap'
import type { Test } from 'tap'
import { isError } from '../support/answers.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'

const hostile = `</title><script>alert("x")</script><img src=x onerror='alert(1)'>&amp;`

const registry = `
demo: {token: das_demo_portal}
datasets:
  shown:
    title: ${JSON.stringify(hostile)}
    description: ${JSON.stringify(`about ${hostile}`)}
    source: ${JSON.stringify(`from ${hostile}`)}
    files: data/shown.parquet
    key: id
    history: year
    listed: true
    columns:
      secret: {hidden: true}
      "<b>bold</b>": {description: ${JSON.stringify(hostile)}, unit: ${JSON.stringify(hostile)}}
    demo: {id: [1, 2]}
    plans:
      free: {rows_per_month: 1000, history: 1, price_rub: 0}
      pro: {rows_per_month: 500000, history: all, price_rub: 3900, rate_per_minute: 600}
  hushed:
    title: Hushed up
    files: data/shown.parquet
    columns: {year: {name: hushed_year}}
    plans: {pro: {rows_per_month: 10, history: all, price_rub: 77}}
`

const select = `SELECT i AS id, 2020 + i % 3 AS year, 7 AS secret, 'x' AS "<b>bold</b>"
  FROM range(12345) t(i)`

function startPortal(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<World> {
  return startWorld(t, { files: { 'data/shown.parquet': select }, registry, settings })
}

const browser = { headers: { accept: 'text/html,*/*;q=0.8' } }
const pages = ['/', '/guide', '/datasets/shown', '/account', '/docs', '/docs/shown'] as const

function header({ headers }: Answer, name: string): string {
  return String(headers[name])
}

await t.test('a visitor sees what is listed, what it costs and a line that works', async (t) => {
  const world = await startPortal(t)
  const { status, text } = await world.get('/?lang=en', undefined, browser)
  t.equal(status, 200)
  t.match(text, '12,345')
  t.match(text, 'Latest year')
  t.match(text, /₽3,900/)
  t.match(text, /₽39,000/)
  t.match(text, '<a href="/datasets/shown?lang=en"')
  const path = /'http:\/\/[^/]+(\/v1\/[^']+)'/.exec(unescaped(text))?.[1] ?? ''
  const { status: works, body } = await world.get(path, 'das_demo_portal')
  t.equal(works, 200)
  t.equal(body.data.length, 2)
})

await t.test('what is not listed is nowhere, and its page is the 404 of any path', async (t) => {
  const world = await startPortal(t)
  for (const page of pages) {
    const { text } = await world.get(page, undefined, browser)
    t.notMatch(text, /hushed|₽77/i, page)
    t.notMatch(text, 'secret', page)
  }
  const unknown = await world.get('/datasets/nothing', undefined, browser)
  t.equal(unknown.status, 404)
  for (const path of ['/datasets/hushed', '/datasets/secret', '/elsewhere', '//evil.example/x']) {
    const { status, text } = await world.get(path, undefined, browser)
    t.equal(status, 404)
    t.equal(text, unknown.text, path)
  }
})

await t.test('a client that does not accept HTML gets errors as JSON', async (t) => {
  const world = await startPortal(t)
  isError(t, await world.get('/datasets/hushed'), 'not_found')
  isError(t, await world.get('/elsewhere'), 'not_found')
  isError(t, await world.get('/v1/hushed/x', undefined, browser), 'not_found')
  isError(t, await world.get('/v1/shown', undefined, browser), 'unauthorized')
  const post = await world.get('/', undefined, { method: 'POST' })
  isError(t, post, 'method_not_allowed')
  t.equal(header(post, 'allow'), 'GET, HEAD')
})

await t.test('a browser gets mistakes as a page in its language', async (t) => {
  const world = await startPortal(t)
  const russian = { headers: { ...browser.headers, 'accept-language': 'ru' } }
  const foreign = await world.get('/order', undefined, {
    method: 'POST',
    body: 'plan=x',
    headers: { ...russian.headers, 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.equal(foreign.status, 403)
  t.match(header(foreign, 'content-type'), 'text/html')
  t.match(foreign.text, '<html lang="ru"')
  t.match(foreign.text, 'На этот запрос нельзя ответить')
  let limited = await world.get('/', undefined, russian)
  for (let count = 0; limited.status === 200 && count < 700; count += 1) {
    limited = await world.get('/', undefined, russian)
  }
  t.equal(limited.status, 429)
  t.match(header(limited, 'retry-after'), /^\d+$/)
  t.match(limited.text, 'Не сейчас')
  const unknown = await world.get('/nothing', undefined, russian)
  t.equal(unknown.status, 429, 'a page that is not there counts too')
  t.match(unknown.text, 'Не сейчас')
  isError(t, await world.get('/'), 'rate_limit_exceeded')
})

await t.test('texts of registry and files are text, never markup', async (t) => {
  const world = await startPortal(t)
  for (const page of pages) {
    const { text } = await world.get(page, undefined, browser)
    t.notMatch(text, /<script>|<img|onerror='|<b>/, page)
  }
  const { text } = await world.get('/datasets/shown', undefined, browser)
  t.match(text, '&lt;b&gt;bold&lt;/b&gt;')
  t.match(unescaped(text), hostile)
})

await t.test('a page says its language: as chosen, else as the browser likes', async (t) => {
  const world = await startPortal(t)
  const cases = [
    ['/', 'ru-RU,ru;q=0.9,en;q=0.8', 'ru'],
    ['/', 'de, en;q=0.5, ru;q=0.7', 'ru'],
    ['/', 'ru;q=0, fr', 'en'],
    ['/', undefined, 'en'],
    ['/?lang=en', 'ru', 'en'],
    ['/account?lang=ru', 'en', 'ru'],
    ['/datasets/shown?lang=xx', 'ru', 'ru'],
  ] as const
  for (const [url, liked, language] of cases) {
    const headers = { ...browser.headers, ...(liked && { 'accept-language': liked }) }
    const answer = await world.get(url, undefined, { headers })
    t.match(answer.text, `<html lang="${language}"`, `${url} ${liked}`)
    t.equal(header(answer, 'content-language'), language)
  }
  const russian = await world.get('/datasets/shown?lang=ru', undefined, browser)
  t.match(russian.text, /12\s345/)
  t.match(russian.text, /39\s000\s₽/)
  t.match(russian.text, '<a href="/account?lang=ru"')
  t.match(russian.text, 'href="?lang=en"')
  const missing = await world.get('/nothing?lang=ru', undefined, browser)
  t.match(missing.text, 'Страница не найдена')
})

await t.test('a page loads no foreign resource and runs no script of its content', async (t) => {
  const world = await startPortal(t)
  for (const page of [...pages, '/nothing']) {
    const answer = await world.get(page, undefined, browser)
    t.equal(
      header(answer, 'content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
    // With `no-referrer` a browser sends a form with `Origin: null`.
    const policy = page === '/account' ? 'same-origin' : 'no-referrer'
    t.equal(header(answer, 'referrer-policy'), policy)
    t.equal(header(answer, 'x-content-type-options'), 'nosniff')
    t.equal(header(answer, 'content-type'), 'text/html; charset=utf-8')
    // These are read by search engines; the texts are escaped.
    const text = answer.text
      .replaceAll(/<meta (name="description"|property="og:\w+") content="[^"<>]+" \/>/g, '')
      .replaceAll(/<link rel="(alternate|canonical)" [^>]*>/g, '')
    t.notMatch(text, / (src|href)="(https?:)?\/\//, page)
    t.notMatch(text, /<[^>]* (style|on\w+)=/, page)
    t.equal(answer.headers['set-cookie'], undefined)
  }
})

await t.test('search engines find each public page in each language', async (t) => {
  const world = await startPortal(t, { publicUrl: 'https://data.example.org' })
  // The reference of one dataset is the same text for any name.
  for (const page of pages.filter((each) => each !== '/docs/shown')) {
    const { text } = await world.get(page, undefined, browser)
    for (const [code, query] of [
      ['en', '?lang=en'],
      ['ru', '?lang=ru'],
      ['x-default', ''],
    ] as const) {
      t.match(text, `hreflang="${code}" href="https://data.example.org${page}${query}"`)
    }
    t.match(text, '<meta name="description"')
  }
  const { text } = await world.get('/nothing', undefined, browser)
  t.notMatch(text, 'alternate')
})

await t.test('a known page is 304, and HEAD has no body', async (t) => {
  const world = await startPortal(t)
  for (const page of pages) {
    const first = await world.get(page, undefined, browser)
    const tag = header(first, 'etag')
    t.equal(header(first, 'vary'), 'Accept-Language, Cookie, Accept-Encoding')
    t.equal(header(first, 'cache-control'), 'no-cache')
    const headers = { ...browser.headers, 'if-none-match': tag }
    const again = await world.get(page, undefined, { headers })
    t.equal(again.status, 304)
    t.equal(again.text, '')
    const head = await world.get(page, undefined, { ...browser, method: 'HEAD' })
    t.equal(head.status, 200)
    t.equal(header(head, 'etag'), tag)
  }
})

await t.test('behind a proxy, links and lines have the public address', async (t) => {
  const world = await startPortal(t, { publicUrl: 'https://data.example.org/das' })
  const { text } = await world.get('/', undefined, browser)
  t.match(unescaped(text), 'https://data.example.org/das/v1/shown?')
  t.match(text, 'href="/das/datasets/shown"')
  t.match(text, 'href="/das/account"')
})

await t.test('the first page says when no dataset is listed', async (t) => {
  const world = await startWorld(t, { files: {}, registry: 'datasets: {}' })
  const { status, text } = await world.get('/', undefined, browser)
  t.equal(status, 200)
  t.match(text, 'No dataset is shown here yet')
  t.notMatch(text, 'curl')
})

function unescaped(text: string): string {
  const entities = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) =>
    String(entities[entity as keyof typeof entities]),
  )
}

await t.test(
  'a dataset with a key has a page for lists, which says what to do alone',
  async (t) => {
    const world = await startPortal(t)
    const own = await world.get('/datasets/shown?lang=en')
    t.match(own.text, '<a href="/datasets/shown/list?lang=en">Add columns to your list</a>')
    for (const [lang, title] of [
      ['en', 'Enrich a list'],
      ['ru', 'Дополнить список'],
    ] as const) {
      const { status, text } = await world.get(`/datasets/shown/list?lang=${lang}`)
      t.equal(status, 200)
      t.match(text, `<h1>${title}: &lt;/title&gt;`)
      t.match(text, /<noscript>[^]*das enrich list\.xlsx --dataset shown --key id[^]*<\/noscript>/)
      t.match(text, 'data-demo-token="das_demo_portal"')
      t.notMatch(text, 'secret')
    }
    for (const name of ['hushed', 'none']) {
      t.equal((await world.get(`/datasets/${name}/list`)).status, 404)
    }
  },
)
