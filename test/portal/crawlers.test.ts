import { Parser } from 'saxen'
import t from 'tap'
import type { Test } from 'tap'
import { holdsNoSecret, isError } from '../support/answers.js'
import { audienceFiles, audienceRegistry } from '../support/audiences.js'
import { startWorld } from '../support/world.js'
import type { World } from '../support/world.js'

const base = 'https://data.example.org/das'
const files = ['/robots.txt', '/sitemap.xml', '/llms.txt']

function startPublic(t: Test, publicUrl: string = base): Promise<World> {
  const settings = { publicUrl }
  return startWorld(t, { files: audienceFiles, registry: audienceRegistry, settings })
}

interface SitemapUrl {
  readonly loc: string
  readonly changed: string
  readonly alternates: Readonly<Record<string, string>>
}

/** The entries of a sitemap, by a parser of XML. */
function urlsOf(text: string): readonly SitemapUrl[] {
  const urls: { loc: string; changed: string; alternates: Record<string, string> }[] = []
  let inside = ''
  const parser = new Parser()
  parser.on('openTag', (name, attributesOf) => {
    inside = name
    if (name === 'url') urls.push({ loc: '', changed: '', alternates: {} })
    const { hreflang, href } = name === 'xhtml:link' ? attributesOf() : {}
    const url = urls.at(-1)
    if (url && hreflang !== undefined && href !== undefined) url.alternates[hreflang] = href
  })
  parser.on('text', (text) => {
    const url = urls.at(-1)
    if (url && inside === 'loc') url.loc += text.trim()
    if (url && inside === 'lastmod') url.changed += text.trim()
  })
  parser.write(text).end()
  return urls
}

await t.test('the sitemap has every public page in each language, as the pages say', async (t) => {
  const world = await startPublic(t)
  const urls = urlsOf((await world.get('/sitemap.xml')).text)
  const paths = ['/', '/guide', '/docs', '/datasets/open', '/datasets/plain']
  t.same(
    urls.map(({ loc }) => loc),
    paths.flatMap((path) => ['?lang=en', '?lang=ru', ''].map((query) => `${base}${path}${query}`)),
  )
  for (const { loc, changed, alternates } of urls) {
    const { status, text } = await world.get(loc.slice(base.length))
    t.equal(status, 200, loc)
    t.match(text, `<link rel="canonical" href="${loc}" />`)
    t.match(text, `<meta property="og:url" content="${loc}" />`)
    t.same(Object.keys(alternates), ['en', 'ru', 'x-default'])
    for (const [code, href] of Object.entries(alternates)) {
      t.match(text, `<link rel="alternate" hreflang="${code}" href="${href}" />`, loc)
    }
    t.equal(changed !== '', loc.includes('/datasets/'), loc)
    if (changed !== '') t.match(text, `"dateModified":"${changed}"`)
  }
})

await t.test('a page has one address, however it was asked for', async (t) => {
  const world = await startPublic(t)
  for (const [asked, canonical] of [
    ['/datasets/open/', '/datasets/open'],
    ['/datasets/open?token=x&lang=ru&page=2', '/datasets/open?lang=ru'],
    ['/?lang=de', '/'],
  ] as const) {
    const { text } = await world.get(asked)
    t.match(text, `<link rel="canonical" href="${base}${canonical}" />`, asked)
  }
})

/** Whether `robots.txt` lets crawlers read a path: the longest rule decides (RFC 9309, 2.2.2). */
function isAllowed(robots: string, path: string): boolean {
  const rules = [...robots.matchAll(/^(Allow|Disallow): (\S+)$/gm)]
  const met = rules.filter(([, , rule = '']) => {
    const [start = '', end] = rule.split('*', 2)
    return path.startsWith(start) && (end === undefined || path.slice(start.length).includes(end))
  })
  return (
    met.sort(([, , one = ''], [, , other = '']) => other.length - one.length)[0]?.[1] === 'Allow'
  )
}

/** Every path of a server, from its tree of routes. */
function pathsOf(world: World): readonly string[] {
  const above: string[] = []
  return world.app.server
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', name, methods] = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?/.exec(line) ?? []
      if (name === undefined) return []
      above.splice(indent.length / 4)
      above.push(name)
      return methods === undefined ? [] : [above.join('')]
    })
}

await t.test('robots.txt lets crawlers read the public pages, and no other path', async (t) => {
  for (const [publicUrl, root] of [
    [base, '/das'],
    ['https://data.example.org', ''],
  ] as const) {
    const world = await startPublic(t, publicUrl)
    const { text } = await world.get('/robots.txt')
    t.match(text, /^User-agent: \*\n/)
    t.match(text, `\nSitemap: ${publicUrl}/sitemap.xml\n`)
    const paths = pathsOf(world).filter((path) => !path.includes('/.well-known/'))
    t.ok(paths.length > 20)
    t.same(
      paths.filter((path) => isAllowed(text, `${root}${path}`)).sort(),
      [
        ...[
          '/',
          '/about',
          '/brand.css',
          '/datasets/:dataset',
          '/datasets/:dataset/:key',
          '/datasets/:dataset/list',
          '/datasets/:dataset/names',
          '/docs',
          '/docs/:dataset',
          '/guide',
          '/llms.txt',
          '/logo.svg',
          '/openapi.json',
          '/privacy',
        ],
        ...['/robots.txt', '/sitemap.xml', '/terms'],
      ],
      'a new path is public, or named in robots.txt',
    )
  }
})

await t.test('llms.txt says what is here and how to ask, with links that answer', async (t) => {
  const world = await startPublic(t)
  const { text } = await world.get('/llms.txt')
  const [title, , summary] = text.split('\n')
  t.match(title, /^# \S/)
  t.match(summary, /^> \S/)
  t.match(text, '`das_demo_audience`')
  t.match(
    text,
    `- [Open title](${base}/datasets/open?lang=en): Open words (path \`/v1/open\`, 2 rows)`,
  )
  t.match(text, `- [Plain title](${base}/datasets/plain?lang=en): (path \`/v1/plain\`, 1 rows)`)
  const links = [...text.matchAll(/\]\((https:[^)]+)\)/g)].map(([, link = '']) => link)
  t.ok(links.length >= 5)
  for (const link of links) {
    t.ok(link.startsWith(`${base}/`), link)
    const { status } = await world.get(link.slice(base.length))
    t.equal(status, link.endsWith('/mcp/') ? 405 : 200, link)
  }
})

await t.test('what is not listed, hidden or private is in none of them', async (t) => {
  const world = await startPublic(t)
  const { token } = await world.subscribe(['closed:p'])
  for (const path of [...files, '/', '/datasets/open']) {
    for (const asker of [undefined, token]) {
      const { text } = await world.get(path, asker)
      for (const absent of ['losed', 'concealed', 'paid0', token]) t.notMatch(text, absent, path)
      holdsNoSecret(t, text.replaceAll('parquet', ''), path)
    }
  }
})

await t.test('they are cached, known by a tag, and answer HEAD and no other method', async (t) => {
  const world = await startPublic(t)
  for (const [path, type] of [
    ['/robots.txt', 'text/plain; charset=utf-8'],
    ['/sitemap.xml', 'application/xml; charset=utf-8'],
    ['/llms.txt', 'text/plain; charset=utf-8'],
  ] as const) {
    const { status, headers, text } = await world.get(path)
    t.equal(status, 200, path)
    t.match(headers, { 'content-type': type, 'cache-control': 'public, max-age=300' })
    t.equal(headers['set-cookie'], undefined)
    const tag = String(headers['etag'])
    const again = await world.get(path, undefined, { headers: { 'if-none-match': tag } })
    t.same([again.status, again.text, again.headers['etag']], [304, '', tag])
    const head = await world.get(path, undefined, { method: 'HEAD' })
    t.same([head.status, head.headers['etag']], [200, tag])
    t.equal(head.headers['content-length'], String(Buffer.byteLength(text)))
    isError(t, await world.get(path, undefined, { method: 'POST' }), 'method_not_allowed')
  }
})

await t.test('without a public address they have the address of the request', async (t) => {
  const world = await startWorld(t, { files: audienceFiles, registry: audienceRegistry })
  for (const path of files) {
    const headers = { host: 'seen.example.org' }
    const { text } = await world.get(path, undefined, { headers })
    t.match(text, 'http://seen.example.org/', path)
  }
})

await t.test('a server without public datasets says so', async (t) => {
  const world = await startWorld(t, { files: {}, registry: 'datasets: {}' })
  t.match((await world.get('/llms.txt')).text, 'No dataset is public.')
  t.equal(urlsOf((await world.get('/sitemap.xml')).text).length, 9)
  t.match((await world.get('/guide')).text, 'GET /v1/ lists the datasets')
})
