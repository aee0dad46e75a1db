import t from 'tap'
import { startWorld } from '../support/world.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'

const hostile = `</script><script>document.title = 'run'</script><!--<script> ' & "`

const browser = await startChromium(t)
const world = await startWorld(t, {
  portalFolder: await builtPortal(t),
  files: { 'data/a.parquet': 'SELECT i AS id, i AS amount FROM range(9) t(i)' },
  registry: `
demo: {token: das_demo_facts, rate_per_minute: 1000}
datasets:
  shown:
    title: ${JSON.stringify(hostile)}
    description: ${JSON.stringify(hostile)}
    source: ${JSON.stringify(hostile)}
    files: data/a.parquet
    key: id
    listed: true
    demo: {id: [1, 2]}
    columns: {amount: {description: ${JSON.stringify(hostile)}}}
    plans: {p: {rows_per_month: 10, history: all, price_rub: 0}}
`,
})
const base = await listen(world)

await t.test('a browser reads the facts as data: it runs and complains of nothing', async (t) => {
  for (const path of ['/', '/datasets/shown', '/datasets/shown?lang=ru']) {
    const { page, complaints, requests } = await visit(browser, `${base}${path}`)
    const blocks = await page.locator('script[type="application/ld+json"]').allTextContents()
    t.equal(blocks.length, 1, path)
    const facts = JSON.parse(blocks[0] ?? '') as Readonly<Record<string, unknown>>
    t.equal(facts['@context'], 'https://schema.org')
    if (path !== '/') t.match(facts, { name: hostile, description: hostile })
    t.not(await page.title(), 'run')
    t.equal(await page.locator('script:not([src]):not([type="application/ld+json"])').count(), 0)
    t.same(complaints, [], path)
    t.same(
      requests.filter((url) => !url.startsWith(base) && !url.startsWith('data:')),
      [],
      'no address in the facts is asked for',
    )
    await page.context().close()
  }
})
