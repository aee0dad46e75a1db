import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import { letterTo, startMailServer } from '../sales/letters/fixtures/mail-server.js'
import { shopRegistry, shopRows } from '../portal/fixtures/shop-world.js'
import { authorizePath, redeem, register } from '../support/sign-in.js'
import { startWorld } from '../support/world.js'
import { violations } from './fixtures/axe.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'

// From no token to a connected agent: a browser, a real mail server, and a shop that is closed.

const email = 'subscriber@example.org'
const mail = await startMailServer(t)
const agent = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/html')
  response.end('<!doctype html><title>Thank you</title><link rel="icon" href="data:,">')
})
await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve))
t.teardown(() => agent.close())
const uri = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/callback`
const browser = await startChromium(t)
const world = await startWorld(t, {
  files: { 'data/things.parquet': shopRows },
  registry: shopRegistry(''),
  portalFolder: await builtPortal(t),
  settings: { smtpUrl: mail.url, mailFrom: 'data@example.org' },
})
const base = await listen(world)
const clientId = await register(world, { client_name: 'Agent', redirect_uris: [uri] })

function comeFromAgent(lang: string, options: BrowserContextOptions = {}) {
  const path = authorizePath(clientId, { redirect_uri: uri, resource: `${base}/mcp`, lang })
  return visit(browser, base + path, options)
}

/** Types the code of the newest such letter. */
async function typeCode(page: Page, letter: RegExp): Promise<void> {
  const code = /^ {4}(\d{8})$/m.exec(await letterTo(mail, email, letter))?.[1] ?? ''
  await page.locator('#code').fill(code)
}

await t.test('a person without a token connects with a mailed code, without script', async (t) => {
  await world.subscribe(['things:pro'])
  const options = { javaScriptEnabled: false }
  const { page, complaints, requests } = await comeFromAgent('en', options)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'Send the code' }).click()
  await page.getByText(`A code was sent to ${email}`).waitFor()
  await page.getByText('an app on this computer').waitFor()
  await page.getByLabel('Code of 8 digits').fill('no code')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  await typeCode(page, /connect an agent/)
  const leaving = page.waitForRequest((request) => request.url().startsWith(`${uri}?`))
  await page.keyboard.press('Enter')
  const back = new URL((await leaving).url()).searchParams
  t.match(Object.fromEntries(back), { state: 'the state', iss: base })
  const answer = await redeem(world, clientId, back.get('code') ?? '', { redirect_uri: uri })
  t.equal(answer.status, 200, 'the code is good')
  await page.waitForURL(`${uri}?**`)
  t.equal(await page.title(), 'Thank you')
  t.match(await letterTo(mail, email, /An agent was connected/), 'a code that was mailed to you')
  t.notMatch(requests.join(), /\d{8}&|subscriber/, 'neither code nor address in a URL')
  const blocked = complaints.filter((text) => !text.includes('status of 400'))
  t.same(blocked, [], 'nothing was blocked; a wrong code is a 400')
  await page.context().close()
})

await t.test('Cancel leads back from the page of the code, too', async (t) => {
  const { page } = await comeFromAgent('en', { javaScriptEnabled: false })
  await page.getByLabel('E-mail address').fill('anyone@example.org')
  await page.keyboard.press('Enter')
  await page.getByText('A code was sent to').waitFor()
  const leaving = page.waitForRequest((request) => request.url().startsWith(`${uri}?`))
  await page.getByRole('button', { name: 'Cancel' }).click()
  t.equal(new URL((await leaving).url()).searchParams.get('error'), 'access_denied')
  await page.context().close()
})

await t.test('axe finds nothing at any step, in both languages, and all fits 360 px', async (t) => {
  await world.subscribe(['parts:start'])
  for (const { lang, letter, ...look } of [
    { lang: 'en', letter: /connect an agent/, colorScheme: 'dark', width: 360 },
    { lang: 'ru', letter: /подключить агента/, colorScheme: 'light', width: 360 },
    { lang: 'ru', letter: /подключить агента/, colorScheme: 'dark', width: 1200 },
  ] as const) {
    // The limit of codes of an address.
    world.clock.ms += 3_600_000
    const { colorScheme, width } = look
    const viewport = { width, height: 800 }
    const { page, complaints } = await comeFromAgent(lang, { colorScheme, viewport })
    const check = async (step: string) => {
      const name = `${lang} ${width} ${step}`
      t.same(await violations(page), [], name)
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, name)
      t.equal(await page.locator('html').getAttribute('lang'), lang, name)
      t.equal(await page.locator('script').count(), 0, `${name}: no script`)
      t.same(await page.context().cookies(), [], `${name}: no cookie`)
    }
    await check('begin')
    t.same(complaints, [])
    const sent = mail.letters.length
    await page.locator('#email').fill(email)
    await page.locator('button[value=mail]').click()
    await page.locator('#code').waitFor()
    await check('code')
    await page.locator('#code').fill('x')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await check('a wrong code')
    while (mail.letters.length === sent) await page.waitForTimeout(100)
    await typeCode(page, letter)
    await page.keyboard.press('Enter')
    await page.getByRole('radio').first().waitFor()
    await check('choose')
    await page.getByRole('radio').last().check()
    const leaving = page.waitForRequest((request) => request.url().startsWith(`${uri}?`))
    await page.locator('button[value=code]').click()
    t.ok(new URL((await leaving).url()).searchParams.get('code'))
    await page.context().close()
  }
})
