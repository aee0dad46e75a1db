import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Page } from 'playwright-core'
import { SqliteStore } from '../src/control/store/sqlite-store.js'
import { createSubscription } from '../src/control/subscriptions.js'
import { chargeAll, periodOf } from '../src/control/usage.js'
import { bareEnvironment, launcher, makeFolder } from './harness/fixture.js'
import { text } from './harness/options.js'
import { startServer } from './harness/process.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { machine } from '../test/support/machine.js'

const command = {
  name: 'screenshots',
  usage: 'npm run screenshots --',
  about: 'Takes the pictures of the portal and the reference over the shipped registry.',
  options: { out: text('where to', 'docs/screenshots') },
}

/** The address in the examples to copy. */
const publicUrl = 'https://data.example.org'
const desktop = { width: 1080, height: 720 }
const phone = { width: 360, height: 780 }

const byYear = '#analyse?group=year,inn,name&measures=sum(2110),net_margin&limit=100&labels=true'

/** Brings what a picture shows into view. */
type Prepare = (page: Page) => Promise<void>
type Shot = readonly [
  name: string,
  path: string,
  size: typeof desktop,
  scheme: 'light' | 'dark',
  prepare?: Prepare,
]

function shotsWith(token: string): readonly Shot[] {
  const financials = '/datasets/financials?lang=en'
  const usage = async (page: Page) => {
    await page.locator('#token').fill(token)
    await page.keyboard.press('Enter')
    await page.locator('meter').first().waitFor()
  }
  return [
    ['home', '/?lang=en', desktop, 'light'],
    ['home-dark', '/?lang=ru', desktop, 'dark'],
    ['home-phone', '/?lang=ru', phone, 'light'],
    ['explorer', financials, desktop, 'light', query],
    ['explorer-dark', '/datasets/financials?lang=ru', desktop, 'dark', chart],
    ['explorer-phone', financials, phone, 'dark', chart],
    ['analyse', `${financials}${byYear}`, desktop, 'light', analysis],
    ['columns', financials, desktop, 'light', search],
    ['snippets', financials, desktop, 'light', python],
    ['reference', '/docs/financials?lang=en', desktop, 'light'],
    ['usage', '/account?lang=en', desktop, 'light', usage],
  ]
}

async function query(page: Page): Promise<void> {
  await page.locator('button.primary').click()
  await page.locator('table.data').waitFor()
  await scrollTo(page, '#explorer')
}

async function analysis(page: Page): Promise<void> {
  await page.locator('.chart').waitFor()
  await page.evaluate('document.querySelector(".chart").scrollIntoView({ block: "center" })')
}

async function chart(page: Page): Promise<void> {
  await query(page)
  await page.evaluate('document.querySelector(".chart").scrollIntoView({ block: "center" })')
}

async function python(page: Page): Promise<void> {
  await query(page)
  const tab = page.getByRole('tab', { name: 'Python' })
  await tab.click()
  await tab.evaluate((element) => {
    element.scrollIntoView()
  })
}

async function search(page: Page): Promise<void> {
  await scrollTo(page, '#columns')
  await page.getByLabel('Search columns').fill('profit')
}

async function scrollTo(page: Page, selector: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView()`)
}

/** Starts the built server over the shipped registry, with a subscriber of some months. */
async function startShipped(run: Run): Promise<{ readonly base: string; readonly token: string }> {
  const state = join(await makeFolder(run, 'screenshots'), 'state')
  const address = ['--host', '127.0.0.1', '--port', '0', '--public-url', publicUrl]
  const argv = [launcher, 'serve', ...address, '--state', state]
  const { base } = await startServer({ argv, env: bareEnvironment() }, run.cleanup)
  return { base, token: await sell(state) }
}

async function sell(state: string): Promise<string> {
  const months = Array.from({ length: 9 }, (_, index) => {
    const month = new Date()
    return month.setUTCMonth(month.getUTCMonth() - 8 + index, 1)
  })
  const [first = 0] = months
  const grants = [
    { dataset: 'financials', plan: 'pro' },
    { dataset: 'procurement', plan: 'start' },
  ]
  const control = SqliteStore.open(join(state, 'control.db'), machine)
  const { token, subscriptionId } = await createSubscription(control, {
    email: 'reader@example.org',
    grants,
    months: 24,
    globalRows: null,
    priceRub: 0,
    language: 'en',
    now: () => first,
  })
  for (const [index, month] of months.entries()) {
    const rows = 42_000 + ((index * 7919) % 11) * 21_300
    const charge = {
      subscriptionId,
      period: periodOf(month),
      datasetRowsMax: null,
      globalRowsMax: null,
    }
    await chargeAll(control, [
      { ...charge, dataset: 'financials', rows },
      { ...charge, dataset: 'procurement', rows: Math.round(rows / 20) },
    ])
  }
  await control.close()
  return token
}

await runScript(command, async ({ out }, run) => {
  await mkdir(out, { recursive: true })
  const { base, token } = await startShipped(run)
  const options = { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] }
  const browser = await chromium.launch(options)
  run.cleanup.add(() => browser.close())
  for (const [name, path, viewport, colorScheme, prepare] of shotsWith(token)) {
    const page = await browser.newPage({ viewport, colorScheme })
    await page.goto(base + path)
    await prepare?.(page)
    await page.screenshot({ path: join(out, `${name}.png`) })
    await page.close()
  }
})
