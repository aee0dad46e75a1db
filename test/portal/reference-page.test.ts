import t from 'tap'
import { holdsNoSecret, isError } from '../support/answers.js'
import { audienceFiles, audienceRegistry } from '../support/audiences.js'
import { startWorld } from '../support/world.js'

const browser = { headers: { accept: 'text/html,*/*;q=0.8' } }

await t.test('the page is the same for everybody: it names no dataset by itself', async (t) => {
  const world = await startWorld(t, { files: audienceFiles, registry: audienceRegistry })
  const { token } = await world.subscribe(['closed:p'])
  const page = await world.get('/docs/closed', undefined, browser)
  t.equal(page.status, 200)
  t.equal((await world.get('/docs/closed', token, browser)).text, page.text)
  const unknown = await world.get('/docs/nothing', undefined, browser)
  t.equal(unknown.text.replaceAll('nothing', 'closed'), page.text)
  for (const absent of ['Closed title', 'closed_column', 'Open title', token]) {
    t.notMatch(page.text, absent)
  }
  holdsNoSecret(t, page.text, 'the reference')
  isError(t, await world.get('/docs/open/b'), 'not_found')
  isError(t, await world.get('/docs', undefined, { method: 'POST' }), 'method_not_allowed')
})

await t.test('a name in the address is text, never markup', async (t) => {
  const world = await startWorld(t, { files: audienceFiles, registry: audienceRegistry })
  const { text } = await world.get('/docs/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E')
  t.notMatch(text, '<script>alert')
  t.match(text, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.match(text, 'data-query="?dataset=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E"')
})

await t.test(
  'the reference is found; a page of one dataset is not for search engines',
  async (t) => {
    const world = await startWorld(t, {
      files: audienceFiles,
      registry: audienceRegistry,
      settings: { publicUrl: 'https://example.org/data/' },
    })
    const { text } = await world.get('/docs?lang=ru')
    t.match(text, '<html lang="ru"')
    t.match(text, 'Справочник API')
    t.match(text, '<meta name="description"')
    t.match(text, 'data-query="?dataset=" data-demo-token="das_demo_audience"')
    t.match(text, /<a href="\/data\/docs\/open\?lang=ru"><code>\/v1\/open<\/code><\/a> Open title/)
    t.notMatch(text, 'closed')
    const { text: one } = await world.get('/docs/open?lang=ru')
    t.notMatch(one, '<meta name="description"')
    t.match(one, 'href="/data/docs?lang=ru"')
    t.match(one, 'href="/data/openapi.json?dataset=open"')
  },
)
