import t from 'tap'
import { holdsNoSecret, isError } from '../support/answers.js'
import { demoToken, startThings } from '../support/things.js'
import { startTyped } from '../support/typed.js'
import { startWorld } from '../support/world.js'

const filesOf = (page: string) =>
  [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, at = '']) => at)

await t.test(
  'the reference is a page of files of this server, and may load no other',
  async (t) => {
    const world = await startThings(t)
    const page = await world.get('/docs')
    t.equal(page.status, 200)
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    t.equal((await world.get('/docs/')).text, page.text)
    const policy = String(page.headers['content-security-policy'])
    t.match(policy, "default-src 'none'")
    t.match(policy, "script-src 'self';")
    t.notMatch(policy, /unsafe|\*|https?:/)
    t.notMatch(page.text, /<script>|<style>| on\w+=|style="|https?:/, 'nothing inline, no stranger')
    t.match(page.text, `data-demo-token="${demoToken}"`)
    holdsNoSecret(t, page.text, 'the page')
    const files = filesOf(page.text).filter((at) => at.startsWith('/docs/'))
    t.equal(files.length, 4)
    for (const at of files) {
      const file = await world.get(at)
      t.equal(file.status, 200, at)
      t.match(file.headers['content-type'], /^text\/(css|javascript); charset=utf-8$/)
      t.equal(file.headers['cache-control'], 'public, max-age=31536000, immutable')
      t.match(at, String(file.headers['etag']).slice(3, -1), 'a new content has a new address')
      t.ok(file.text.length > 100)
    }
  },
)

await t.test('page and files are 304 where they are known, and answer HEAD', async (t) => {
  const world = await startThings(t)
  for (const url of ['/docs', '/docs/start.js', '/docs/swagger-ui.css']) {
    const { headers } = await world.get(url)
    const known = { 'if-none-match': String(headers['etag']) }
    const again = await world.get(url, undefined, { headers: known })
    t.equal(again.status, 304, url)
    t.equal(again.text, '')
    const head = await world.get(url, undefined, { method: 'HEAD' })
    t.equal(head.status, 200)
    t.equal(head.text, '')
    t.equal(head.headers['etag'], headers['etag'])
    isError(t, await world.get(url, undefined, { method: 'POST' }), 'method_not_allowed')
  }
})

await t.test('nothing else of the package is served', async (t) => {
  const world = await startTyped(t)
  t.match((await world.get('/docs')).text, 'data-demo-token=""', 'this world has no demo')
  const others = ['index.html', 'logo.svg', 'package.json', '__proto__', '..%2fpackage.json', 'a/b']
  for (const name of others) isError(t, await world.get(`/docs/${name}`), 'not_found')
})

await t.test('behind a proxy that puts a path before ours, addresses have it too', async (t) => {
  const settings = { publicUrl: 'https://example.org/data/' }
  const world = await startWorld(t, { files: {}, registry: 'datasets: {}', settings })
  const { text } = await world.get('/docs')
  t.match(text, 'data-document="/data/openapi.json"')
  const own = filesOf(text).filter((at) => !at.startsWith('data:'))
  t.equal(own.length, 6)
  for (const at of own) {
    t.match(at, /^\/data\//)
    t.equal((await world.get(at.slice('/data'.length))).status, 200, at)
  }
  t.match((await world.get('/openapi.json')).body, { servers: [{ url: '/data' }] })
})
