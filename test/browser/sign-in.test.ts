import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import t from 'tap'
import { createToken } from '../../src/control/tokens/token-format.js'
import { authorizePath, redeem, register } from '../support/sign-in.js'
import { startThings } from '../support/things.js'
import { violations } from './fixtures/axe.js'
import { builtPortal, listen, startChromium, visit } from './fixtures/chromium.js'
import { machineRandom } from '../../src/random.js'

const siteUri = 'https://claude.ai/api/mcp/auth_callback'
const onwardUri = 'https://claude.ai/open-the-app'
const appUri = 'cursor://anysphere.cursor-mcp/oauth/callback'

/** What browsers asked the agents for. */
const arrived: IncomingMessage[] = []
/** An agent that thanks the person; at one path it sends them on to its app, as claude.ai does. */
const agent: RequestListener = (request, response) => {
  arrived.push(request)
  response.setHeader('Content-Type', 'text/html')
  if (request.url?.startsWith(new URL(onwardUri).pathname)) {
    response.writeHead(302, { Location: 'claude://connected' })
  }
  response.end('<!doctype html><title>Thank you</title><link rel="icon" href="data:,">')
}

async function startAgent(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

const certificate = join('test', 'sales', 'letters', 'fixtures')
const sitePort = await startAgent(
  createSecureServer(
    {
      key: readFileSync(join(certificate, 'key.pem')),
      cert: readFileSync(join(certificate, 'certificate.pem')),
    },
    agent,
  ),
)
const programUri = `http://127.0.0.1:${await startAgent(createServer(agent))}/callback`
const browser = await startChromium(t, [
  `--host-resolver-rules=MAP claude.ai 127.0.0.1:${sitePort}`,
])
const world = await startThings(t, {}, { portalFolder: await builtPortal(t) })
const base = await listen(world)
const { token } = await world.subscribe(['things:pro'])

/** Sends a person without JavaScript to the page, as an agent that gets its answer at `uri`. */
async function comeFrom(uri: string, options: BrowserContextOptions = {}, lang = 'en') {
  const clientId = await register(world, { client_name: 'Agent', redirect_uris: [uri] })
  const path = authorizePath(clientId, { redirect_uri: uri, resource: `${base}/mcp`, lang })
  const look = { ignoreHTTPSErrors: true, javaScriptEnabled: false, ...options }
  const seen = await visit(browser, base + path, look)
  const { page } = seen
  const field = page.locator('#token')
  /** Presses a button; the parameters with which the browser goes to the agent. */
  const pressAndLeave = async (name: string) => {
    const leaving = page.waitForRequest((request) => request.url().startsWith(`${uri}?`))
    await page.getByRole('button', { name, exact: true }).click()
    return new URL((await leaving).url()).searchParams
  }
  return { ...seen, clientId, field, pressAndLeave }
}

for (const { name, uri } of [
  { name: 'a site', uri: siteUri },
  { name: 'a site that leads on to its app', uri: onwardUri },
  { name: 'a program on another port', uri: programUri },
  { name: 'an app', uri: appUri },
]) {
  await t.test(`Connect leads to ${name}`, async (t) => {
    arrived.length = 0
    const { page, clientId, field, pressAndLeave, requests, complaints } = await comeFrom(uri)
    await field.fill(token)
    const onward = uri === onwardUri ? page.waitForRequest('claude://connected') : null
    const back = await pressAndLeave('Connect')
    t.match(Object.fromEntries(back), { state: 'the state', iss: base })
    const answer = await redeem(world, clientId, back.get('code') ?? '', { redirect_uri: uri })
    t.equal(answer.status, 200, 'the code is good')
    if (uri === siteUri || uri === programUri) {
      await page.waitForURL(`${uri}?**`)
      t.equal(await page.title(), 'Thank you')
    }
    if (onward !== null) t.ok(await onward)
    for (const { method, headers } of arrived) {
      t.match([method, headers.referer, headers['content-length']], ['GET', undefined, undefined])
    }
    t.equal(arrived.length, uri === appUri ? 0 : 1)
    t.notMatch(requests.join(), 'das_live_')
    t.same(complaints, [], 'nothing was blocked')
    await page.context().close()
  })
}

for (const uri of [siteUri, programUri, appUri]) {
  await t.test(`Cancel leads back to ${new URL(uri).protocol}`, async (t) => {
    const { page, pressAndLeave, complaints } = await comeFrom(uri)
    t.match(Object.fromEntries(await pressAndLeave('Cancel')), {
      error: 'access_denied',
      state: 'the state',
      iss: base,
      code: undefined,
    })
    t.same(complaints, [])
    await page.context().close()
  })
}

await t.test('a wrong token gives one sentence and an empty field', async (t) => {
  const { page, field, pressAndLeave } = await comeFrom(programUri)
  const wrong = createToken(machineRandom).token
  for (const entered of [wrong, 'not a token']) {
    await field.fill(entered)
    // The answer to the first is an alert, too.
    await Promise.all([page.waitForEvent('load'), field.press('Enter')])
    t.equal(
      await page.getByRole('alert').textContent(),
      'This token is unknown or has ended. Copy it from the letter again.',
    )
    t.equal(await field.inputValue(), '')
    t.notMatch(await page.content(), entered)
    t.notMatch(page.url(), wrong)
  }
  await field.fill(token)
  t.ok((await pressAndLeave('Connect')).has('code'), 'the right one connects')
  await page.context().close()
})

await t.test('the browser names the page as the sender of its form', async (t) => {
  const { page, field } = await comeFrom(programUri)
  const sending = page.waitForRequest((request) => request.method() === 'POST')
  await field.fill(token)
  await field.press('Enter')
  const headers = await (await sending).allHeaders()
  t.match(headers, { origin: base, 'sec-fetch-site': 'same-origin' })
  await page.context().close()
})

const desk = { width: 1200, height: 900 }
const phone = { width: 390, height: 844 }

await t.test('axe finds nothing, in both languages, themes and widths', async (t) => {
  for (const { lang, ...look } of [
    { lang: 'en', colorScheme: 'light', viewport: desk },
    { lang: 'ru', colorScheme: 'dark', viewport: desk },
    { lang: 'en', colorScheme: 'dark', viewport: phone },
    { lang: 'ru', colorScheme: 'light', viewport: phone },
  ] as const) {
    const options = { ...look, javaScriptEnabled: true }
    const { page, field, complaints } = await comeFrom(appUri, options, lang)
    const check = async (name: string) => {
      t.same(await violations(page), [], name)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(width, look.viewport.width, name)
      t.equal(await page.locator('html').getAttribute('lang'), lang, name)
      t.equal(await page.locator('script').count(), 0, `${name}: no script`)
      t.same(await page.context().cookies(), [], `${name}: no cookie`)
    }
    const name = `${lang} ${look.colorScheme} ${look.viewport.width}`
    await check(name)
    t.same(complaints, [], name)
    await field.fill(createToken(machineRandom).token)
    await field.press('Enter')
    await page.getByRole('alert').waitFor()
    await check(`${name}, after a wrong token`)
    await page.context().close()
  }
})
