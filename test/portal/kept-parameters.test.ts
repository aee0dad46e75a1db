import t from 'tap'
import { logged } from '../support/logged.js'
import { startFirms } from './fixtures/firms-world.js'

// Guarantee: no link to another language and no form of a page drops what its address asks for.

const how = [
  ['line', 'margin'],
  ['line', 'profit'],
  ['period', '2021'],
  ['chart', 'profit'],
] as const
const withTwo = [['with', '01'], ['with', '02'], ...how] as const
const keysTwo = [['keys', '01'], ['keys', '02'], ...how] as const
type Pairs = readonly (readonly [string, string])[]

/** By page: what its address asks for, and what each of its forms sends on. */
const pages: readonly (readonly [path: string, asked: Pairs, forms: readonly Pairs[]])[] = [
  ['/datasets/firms/compare', keysTwo, [keysTwo, withTwo]],
  ['/datasets/firms/compare', [['keys', '01'], ...how], [[['with', '01'], ...how]]],
  ['/datasets/firms/find', [['q', 'firm'], ...withTwo], [[['q', 'firm'], ...withTwo], keysTwo]],
  ['/datasets/firms/02', [['line', 'margin']], [[['with', '02']], [['line', 'margin']]]],
  ['/sign-in', [['next', '/datasets/firms/02?line=margin']], []],
  ['/order', [['plan', 'firms:all']], []],
  ['/', [['utm', 'a b']], []],
]
const form = /<form(?![^>]*method="post")[^>]*>(.*?)<\/form>/gs
const field = /<input\b([^>]*)>/g

/** What a form sends if nobody touches it. */
function sentBy(content: string): readonly string[] {
  return [...content.matchAll(field)].flatMap(([, attributes = '']) => {
    const valueOf = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1]
    const isSent = valueOf('type') !== 'checkbox' || /\schecked\b/.test(attributes)
    return isSent ? [`${valueOf('name')}=${valueOf('value') ?? ''}`] : []
  })
}

await t.test('links to other languages and forms keep the parameters of a page', async (t) => {
  const world = await startFirms(t)
  void world.app.prepare()
  await logged(world, '"packed"')
  for (const [path, asked, forms] of pages) {
    const query = new URLSearchParams({ lang: 'en' })
    for (const [each, value] of asked) query.append(each, value)
    const { text } = await world.get(`${path}?${query}`)
    const name = `${path}?${query}`
    const [links = ''] = /<nav class="languages".*?<\/nav>/s.exec(text) ?? []
    for (const [, href = ''] of links.matchAll(/href="([^"]*)"/g)) {
      const kept = new URLSearchParams(href.replaceAll('&amp;', '&'))
      for (const [each, value] of asked) t.ok(kept.getAll(each).includes(value), `${each}: ${name}`)
    }
    const sent = [...text.matchAll(form)].map(([, content = '']) => sentBy(content))
    t.ok(sent.length >= forms.length, name)
    for (const wanted of forms) {
      const pairs = wanted.map((pair) => pair.join('='))
      const isSent = sent.some((own) => pairs.every((pair) => own.includes(pair)))
      t.ok(isSent, `${pairs.join('&')}: ${name} sends ${JSON.stringify(sent)}`)
    }
  }
})

await t.test('a page that refuses an address does not repeat it', async (t) => {
  const world = await startFirms(t)
  const { text } = await world.get('/datasets/firms/nobody?x=das_secret', undefined, {
    headers: { accept: 'text/html' },
  })
  const [links = ''] = /<nav class="languages".*?<\/nav>/s.exec(text) ?? []
  t.match(links, '?lang=ru')
  t.notMatch(links, 'das_secret')
})
