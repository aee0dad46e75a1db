import { brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import { recordOf } from '../../src/registry/shape.js'
import { holdsNoSecret, isError } from '../support/answers.js'
import { audienceFiles, audienceRegistry, smallPlans } from '../support/audiences.js'
import { readDocument } from '../support/openapi.js'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'
import type { Answer, World } from '../support/world.js'

function start(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<World> {
  return startWorld(t, { files: audienceFiles, registry: audienceRegistry, settings })
}

const browser = { headers: { accept: 'text/html,*/*;q=0.8' } }

function unescaped(text: string): string {
  const signs = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' } as const
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (sign) => signs[sign as keyof typeof signs])
}

function all(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => unescaped(found))
}

const linksOf = ({ text }: Answer) => all(text, /<a\b[^>]*\bhref="([^"]+)"/g)
const idsOf = ({ text }: Answer) => all(text, /\bid="([^"]+)"/g)
const codesOf = ({ text }: Answer) => new Set(all(text, /<code[^>]*>([^<]*)<\/code>/g))

await t.test('every link leads somewhere, and back to the portal', async (t) => {
  const world = await start(t)
  const seen = new Map<string, Answer>()
  const queue = ['/docs']
  for (const path of queue) {
    const page = await world.get(path, undefined, browser)
    t.equal(page.status, 200, path)
    seen.set(path, page)
    if (!path.startsWith('/docs')) continue
    const ids = idsOf(page)
    t.equal(new Set(ids).size, ids.length, `each id once: ${path}`)
    for (const link of linksOf(page).filter((each) => !each.startsWith('?'))) {
      const [target = '', anchor] = link.split('#')
      if (target === '') t.ok(ids.includes(anchor ?? ''), `${path}#${anchor}`)
      else if (!queue.includes(target)) queue.push(target)
    }
  }
  const expected = ['/', '/docs', '/docs/open', '/docs/plain', '/openapi.json', '/datasets/open']
  for (const path of expected) t.ok(seen.has(path), path)
  t.notOk([...seen.keys()].some((path) => path.includes('closed')))
})

await t.test('the pages say all that the document says', async (t) => {
  const world = await startShipped(t)
  const document = await readDocument(world)
  const pages = new Map<string, Answer>()
  for (const path of ['/docs', '/docs/financials', '/docs/procurement']) {
    pages.set(path, await world.get(path))
  }
  const components = recordOf(document.components)
  const parameters = recordOf(components['parameters'])
  for (const [path, methods] of Object.entries(recordOf(document.paths))) {
    const dataset = /^\/v1\/(?!account)(\w+)/.exec(path)?.[1]
    const page = pages.get(dataset === undefined ? '/docs' : `/docs/${dataset}`)
    if (!page) throw new Error(`no page of ${path}`)
    const codes = codesOf(page)
    t.ok(codes.has(path), path)
    for (const [method, part] of Object.entries(recordOf(methods))) {
      t.ok(codes.has(method.toUpperCase()), `${method} ${path}`)
      const operation = recordOf(part)
      if (method === 'head') continue
      t.ok(idsOf(page).includes(`operation-${String(operation['operationId'])}`))
      t.match(page.text, String(operation['summary']).slice(1))
      for (const { $ref } of (operation['parameters'] ?? []) as readonly { $ref: string }[]) {
        const { name } = recordOf(parameters[$ref.split('/').at(-1) ?? ''])
        t.ok(codes.has(String(name)), `${path}: ${String(name)}`)
      }
      for (const [status, answer] of Object.entries(recordOf(operation['responses']))) {
        t.match(page.text, status, `${path}: ${status}`)
        const headers = Object.keys(recordOf(recordOf(answer)['headers']))
        t.same(
          headers.filter((header) => !codes.has(header)),
          [],
        )
      }
    }
  }
  const whole = [...pages.values()].map(({ text }) => text).join('')
  for (const schema of Object.keys(recordOf(components['schemas']))) {
    t.match(whole, `id="schema-${schema}"`)
  }
  for (const { description } of Object.values(recordOf(components['responses'])).map(recordOf)) {
    for (const [code = ''] of String(description).matchAll(/^`\w+`(?=: )/gm)) {
      t.match(whole, `<code>${code.replaceAll('`', '')}</code>`)
    }
  }
})

await t.test('each command works as it is printed', async (t) => {
  const world = await startShipped(t)
  let commands = 0
  for (const path of ['/docs', '/docs/financials', '/docs/procurement']) {
    const { text } = await world.get(path)
    for (const command of all(text, /<code>(curl [^<]+)<\/code>/g)) {
      const url = /'http:\/\/[^/]+(\/[^']*)'/.exec(command)?.[1] ?? ''
      const token = /Bearer (\w+)/.exec(command)?.[1]
      const body = / -d '(.*)'$/s.exec(command)?.[1]?.replaceAll(`'\\''`, "'")
      const answer = await (body === undefined || token === undefined
        ? world.get(url, token)
        : world.post(url, token, JSON.parse(body)))
      t.equal(answer.status, 200, command)
      const isData = /^\/v1\/\w+(\?|\/(query|top|aggregate))/.test(url)
      if (isData) t.ok(answer.body.data.length > 0, `rows: ${command}`)
      commands += 1
    }
  }
  t.equal(commands, 5 + 2 * 7)
})

// Guarantee: a page names nothing that its reader may not see.
await t.test('a visitor is shown listed datasets, and values of the demo alone', async (t) => {
  const world = await start(t)
  const pages = await Promise.all(['/docs', '/docs/open', '/docs/plain'].map((at) => world.get(at)))
  const text = pages.map((page) => page.text).join('')
  for (const there of ['/docs/open', '/docs/plain', 'Open title', 'Open words', 'open_column']) {
    t.match(text, there)
  }
  t.match(text, 'id=eq.shown1', 'an example of the demo subset')
  t.match(text, 'Bearer das_demo_audience')
  t.notMatch(pages[2]?.text, 'das_demo_audience', 'where the demo token has no access')
  for (const absent of ['closed', 'Closed', 'secret', 'paid0', 'unshown', 'rows_per_month']) {
    t.notMatch(text, absent)
  }
  holdsNoSecret(t, text, 'the reference')
  const unknown = await world.get('/docs/nothing', undefined, browser)
  const closed = await world.get('/docs/closed', undefined, browser)
  t.equal(closed.status, 404)
  t.equal(closed.text, unknown.text)
  for (const name of ['closed', 'nothing', '__proto__', '..%2fopen', 'open/b']) {
    isError(t, await world.get(`/docs/${name}`), 'not_found')
  }
  isError(t, await world.get('/docs/open', undefined, { method: 'POST' }), 'method_not_allowed')
})

await t.test('a token is shown its own datasets, listed or not, and no other', async (t) => {
  const world = await start(t)
  const { token } = await world.subscribe(['closed:p'])
  const list = await world.get('/docs', token)
  const page = await world.get('/docs/closed', token)
  for (const there of ['Closed title', 'Closed source', 'closed_column', 'closed_key=eq.closed0']) {
    t.match(page.text, there)
  }
  t.match(list.text, '/docs/closed')
  t.match(page.text, 'Bearer YOUR_TOKEN')
  t.notMatch(page.text, '/datasets/closed', 'the portal has no page of it')
  for (const text of [list.text, page.text]) {
    t.notMatch(text, /\/docs\/open|Open title|Plain|secret|das_demo/)
    t.notMatch(text, token)
  }
  isError(t, await world.get('/docs/open', token), 'not_found')
  const own = await world.get('/docs/open', (await world.subscribe(['open:p'])).token)
  t.match(own.text, 'id=eq.paid0', 'an example of their own rows')
  for (const answer of [list, page]) {
    t.match(answer.headers, {
      'cache-control': 'private, no-cache',
      vary: /Authorization/,
      'x-ratelimit-limit': '1000',
    })
  }
  isError(t, await world.get('/docs', 'das_live_wrong'), 'unauthorized')
  isError(t, await world.get('/docs/closed', 'das_live_wrong'), 'unauthorized')
})

await t.test(
  'the frame is in the language of the page, the text of the API is English',
  async (t) => {
    const world = await start(t)
    const { text } = await world.get('/docs/open?lang=ru')
    t.match(text, '<html lang="ru"')
    t.match(text, /<div class="reference" lang="en">/)
    t.match(text, 'Справочник API')
    t.match(text, 'href="/docs?lang=ru"')
    t.match(text, 'href="/datasets/open?lang=ru"')
  },
)

await t.test('behind a proxy that puts a path before ours, addresses have it too', async (t) => {
  const world = await start(t, { publicUrl: 'https://example.org/data/' })
  for (const path of ['/docs', '/docs/open']) {
    const page = await world.get(path)
    const links = linksOf(page).filter((each) => !/^[#?]/.test(each))
    t.ok(links.length > 3)
    for (const link of links) {
      t.match(link, /^\/data\//)
      t.equal((await world.get(link.slice('/data'.length))).status, 200, link)
    }
    t.match(unescaped(page.text), "'https://example.org/data/v1")
  }
})

await t.test('a page stays small, also among many wide datasets', async (t) => {
  const columns = Array.from({ length: 400 }, (_, index) => `${index} AS column_${index}`)
  const datasets = Array.from({ length: 60 }, (_, index) => {
    const name = `d${String(index).padStart(2, '0')}`
    return `  ${name}: {title: Wide, files: data/wide.parquet, listed: true, plans: ${smallPlans}}`
  })
  const world = await startWorld(t, {
    files: { 'data/wide.parquet': `SELECT ${columns.join(', ')}` },
    registry: `datasets:\n${datasets.join('\n')}\n`,
  })
  const headers = { 'accept-encoding': 'br' }
  for (const [path, bytesMax] of [
    ['/docs', 20_000],
    ['/docs/d59', 60_000],
  ] as const) {
    const { rawPayload, headers: sent } = await world.app.server.inject({ url: path, headers })
    t.equal(sent['content-encoding'], 'br')
    t.ok(rawPayload.length < bytesMax, `${path}: ${rawPayload.length} bytes on the wire`)
    t.match(String(brotliDecompressSync(rawPayload)), path === '/docs' ? 'd59' : 'column_399')
  }
})
