import t from 'tap'
import { startShipped } from '../support/shipped.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'
const browser = await startChromium(t)
const world = await startShipped(t, { portalFolder: await builtPortal(t) })
const base = await listen(world)
for (const [n, url, o] of [['fin','financials?lang=en',{}],['proc','procurement?lang=ru',{colorScheme:'dark'}],['phone','financials?lang=ru',{viewport:{width:390,height:844}}]] as const) {
  const { page, complaints } = await visit(browser, `${base}/datasets/${url}`, {viewport:{width:1440,height:1000},...o} as any)
  page.setDefaultTimeout(5000); t.comment(complaints)
  await page.locator('.holds svg').first().waitFor().catch(async () => t.comment(await page.locator('#column-search ~ p').allTextContents(), complaints))
  await page.locator('#columns').scrollIntoViewIfNeeded()
  await page.screenshot({path:`/tmp/shots/${n}.png`, fullPage: n!=='phone'})
  t.same(complaints, [])
}
