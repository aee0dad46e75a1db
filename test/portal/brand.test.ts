import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { readRegistry } from '../../src/catalog.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'
import { allTexts } from './fixtures/all-texts.js'

const dataset = `
demo: {token: das_demo_brand}
datasets:
  shown:
    title: Shown
    files: data/shown.parquet
    key: id
    listed: true
    demo: {id: [1]}
`
const portal = `
portal:
  title: {en: Acme Data, ru: Акме Данные}
  logo: logo.svg
  color: "#8a1f5c"
  headline: {en: Numbers you can use, ru: Числа для дела}
  intro: {en: intro-en.md, ru: intro-ru.md}
  footer: {en: Made by Acme, ru: Сделано в Акме}
  owners: [owner@example.org]
  legal:
    name: {en: Acme LLC, ru: "ООО «Акме»"}
    inn: "7707083893"
    address: {en: 1 Main street, ru: "ул. Главная, 1"}
    vat: 20
  pages: {terms: terms.md, about: about.md}
`
const texts: Readonly<Record<string, string>> = {
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  'intro-en.md': 'We *measure* things.\n\n- one\n- two\n',
  'intro-ru.md': 'Мы *измеряем*.\n',
  'terms.md':
    '# Our terms\n\n<script>alert(1)</script>\n\n[bad](javascript:alert(1)) ' +
    '[good](https://example.org/a)\n\n![spy](https://example.org/pixel.png)\n',
  'about.md': 'About us',
}
const sellerText = `  owners: [owner@example.org]
  legal: {name: Acme LLC, inn: "7707083893", address: 1 Main street, vat: 20}
`
const productName = 'Dataset Access Service'

const files = { 'data/shown.parquet': 'SELECT i AS id FROM range(10) t(i)' }

/** A server whose registry got its portal, and the files of it, while it ran. */
async function startBranded(t: Test, extra = portal): Promise<World> {
  const world = await startWorld(t, { files, registry: dataset })
  for (const [name, text] of Object.entries(texts)) await writeFile(join(world.folder, name), text)
  await writeFile(registryOf(world), `${dataset}${extra}`)
  await reload(world)
  return world
}

function registryOf({ folder }: World): string {
  return join(folder, 'registry.yaml')
}

/** Twice: a change is taken once it is the same at two reads. */
async function reload({ app }: World): Promise<void> {
  await app.reload()
  await app.reload()
}

const browser = { headers: { accept: 'text/html' } }
const listTools = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}

await t.test('pages, OpenAPI, MCP and llms.txt have the title of the owner alone', async (t) => {
  const world = await startBranded(t)
  for (const path of ['/', '/guide', '/datasets/shown', '/docs', '/account', '/terms', '/none']) {
    const english = (await world.get(`${path}?lang=en`, undefined, browser)).text
    t.match(english, 'Acme Data', path)
    t.match(english, 'Made by Acme', path)
    t.match(english, 'Acme LLC, INN 7707083893', path)
    t.notMatch(english, productName, path)
    const russian = (await world.get(`${path}?lang=ru`, undefined, browser)).text
    t.match(russian, 'Акме Данные', path)
    t.match(russian, 'ООО «Акме», ИНН 7707083893', path)
    t.notMatch(russian, productName, path)
  }
  const { body } = await world.get('/openapi.json')
  t.match(body['info'], { title: 'Acme Data' })
  t.match((await world.get('/llms.txt')).text, /^# Acme Data\n/)
  t.notMatch((await world.get('/llms.txt')).text, productName)
  const { text } = await world.get('/mcp/', 'das_demo_brand', {
    method: 'POST',
    headers: {
      authorization: 'Bearer das_demo_brand',
      accept: 'application/json, text/event-stream',
    },
    payload: listTools,
  })
  t.match(text, '"title":"Acme Data"')
  t.notMatch(text, productName)
})

await t.test(
  "of two servers side by side, only the unbranded one has the product's name",
  async (t) => {
    const product = /dataset[\s_-]*access[\s_-]*service/i
    const named = async (extra: string) => {
      const found = await allTexts(t, extra + sellerText)
      t.ok(found.size > 110, `${found.size} pages, letters and answers for machines`)
      for (const [where, text] of found) t.ok(text.length > 2, where)
      for (const status of [200, 201, 303, 400, 401, 403, 404, 405, 406, 409, 410, 415]) {
        const isThere = [...found.keys()].some((where) => where.endsWith(` ${status}`))
        t.ok(isThere, `an answer with ${status}`)
      }
      t.match(found.get('workbook'), 'xl/workbook.xml')
      const scripts = [...found.keys()].filter((where) => where.endsWith('.js 200'))
      t.ok(scripts.length > 2, `the scripts ${scripts.join()}`)
      return [...found].filter(([, text]) => product.test(text)).map(([where]) => where)
    }
    const title = 'title: {en: Acme Data, ru: Акме Данные}'
    t.same(await named(`portal:\n  ${title}\n`), [])
    const unbranded = await named('portal:\n')
    for (const where of ['/ 200', '/llms.txt 200', '/openapi.json 200', 'MCP 0 initialize 200']) {
      t.ok(unbranded.includes(where), where)
    }
  },
)

await t.test('a registry without "portal" shows the product', async (t) => {
  const world = await startBranded(t, '')
  t.match((await world.get('/?lang=en')).text, productName)
  t.match((await world.get('/openapi.json')).body['info'], { title: productName })
  for (const path of ['/terms', '/privacy', '/about', '/brand.css', '/logo.svg']) {
    t.equal((await world.get(path)).status, 404, path)
  }
})

// Guarantee: what the owner writes can't run a script in the pages, nor load anything.
await t.test('pages in Markdown have no tags, scripts or images of their own', async (t) => {
  const world = await startBranded(t)
  const { status, text } = await world.get('/terms?lang=en')
  t.equal(status, 200)
  t.match(text, '<h1>Our terms</h1>')
  t.match(text, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.match(text, 'href="https://example.org/a"')
  t.notMatch(text, /<script>alert|href="javascript:|<img[^>]+pixel/)
  t.equal((await world.get('/privacy')).status, 404, 'a page that the registry does not have')
  t.match((await world.get('/sitemap.xml')).text, '/terms')
  const home = (await world.get('/?lang=en')).text
  t.match(home, 'We <em>measure</em> things.')
  t.match(home, 'Numbers you can use')
})

await t.test('the logo runs no script, and the colour is in both colour schemes', async (t) => {
  const world = await startBranded(t)
  const logo = await world.get('/logo.svg')
  t.equal(logo.headers['content-type'], 'image/svg+xml')
  t.match(logo.headers['content-security-policy'], /default-src 'none'.*sandbox/)
  const style = await world.get('/brand.css')
  t.match(style.text, /--accent:light-dark\(#8a1f5c,color-mix\(/)
  t.match((await world.get('/')).text, /<link rel="stylesheet" href="\/brand.css"/)
  t.match((await world.get('/')).text, '<img src="/logo.svg"')
})

await t.test(
  'a changed text is served without a restart, and a bad one leaves the last',
  async (t) => {
    const world = await startBranded(t)
    await writeFile(join(world.folder, 'about.md'), 'second words, longer')
    await reload(world)
    t.match((await world.get('/about?lang=en')).text, /Made by Acme/)
    t.match((await world.get('/about?lang=en')).text, 'second words, longer')
    await writeFile(
      registryOf(world),
      `${dataset}portal: {title: Other, pages: {about: none.md}}\n`,
    )
    await reload(world)
    t.match((await world.get('/about?lang=en')).text, 'second words, longer')
    await t.rejects(readRegistry(registryOf(world)), {
      message: /registry\.yaml:\d+:\d+: portal\.pages\.about: none\.md is not there\./,
    })
    for (const logo of ['', '<html><script>alert(1)</script></html>']) {
      await writeFile(join(world.folder, 'bad.svg'), logo)
      const bad = join(world.folder, 'bad.yaml')
      await writeFile(bad, `${dataset}portal: {logo: bad.svg}\n`)
      await t.rejects(readRegistry(bad), { message: /portal\.logo: bad\.svg has no <svg>/ })
    }
    await writeFile(join(world.folder, 'none.md'), 'here now')
    await reload(world)
    t.match((await world.get('/about?lang=en')).text, 'here now')
  },
)
