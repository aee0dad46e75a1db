import t from 'tap'
import { isOwnPage } from '../../src/portal/own-page.js'

// Guarantee: a form is taken from a page of the public address alone, whatever a client or a proxy
// says of the host.
await t.test('a form comes from a page of this site alone', (t) => {
  const base = 'https://data.example.org/sub'
  const isOwn = (headers: Readonly<Record<string, string>>, address = base) =>
    isOwnPage({ headers }, address)
  const own = 'https://data.example.org'
  t.ok(isOwn({ 'sec-fetch-site': 'same-origin' }))
  t.ok(isOwn({ origin: own }))
  t.ok(isOwn({ origin: `${own}:443` }), 'the usual port')
  for (const site of ['same-site', 'cross-site', 'none', '', 'Same-Origin', 'same-origin, none']) {
    t.notOk(isOwn({ 'sec-fetch-site': site, origin: own }), site)
  }
  const foreign = [
    ...['', 'null', 'data:text/html,x', 'file:///', 'https://evil.example', 'data.example.org'],
    ...['http://data.example.org', `${own}:8443`, `${own}.evil.example`, `${own}, ${own}`],
    ...['https://evil.example/https://data.example.org', 'https://data.example.org@evil.example'],
  ]
  for (const origin of foreign) t.notOk(isOwn({ origin, host: 'evil.example' }), origin)
  t.notOk(isOwn({}))
  t.notOk(isOwn({ referer: `${own}/order`, host: 'data.example.org' }))
  t.end()
})

await t.test('on this machine one server has several names', (t) => {
  const names = ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']
  for (const base of names) {
    for (const origin of names) t.ok(isOwnPage({ headers: { origin } }, base), `${origin} ${base}`)
    for (const origin of ['http://localhost', 'http://localhost:8081', 'https://localhost:8080']) {
      t.notOk(isOwnPage({ headers: { origin } }, base), `${origin} ${base}`)
    }
    t.notOk(isOwnPage({ headers: { origin: 'http://localhost.evil.example:8080' } }, base))
  }
  t.end()
})
