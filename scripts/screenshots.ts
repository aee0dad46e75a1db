import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { buildApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { ControlStore } from '../src/control/store/store.js'
import { createSubscription } from '../src/control/subscriptions.js'
import { chargeAll, periodOf } from '../src/control/usage.js'
import { buildPortal } from './build/portal.js'
import { readFlags } from './harness/options.js'
import { runScript } from './harness/script.js'

const help = `Usage: npm run screenshots -- [--out FOLDER]

Takes the pictures of the portal and the reference over the shipped registry.
  --out F   where to (default docs/screenshots)
  --help    this text`

/** What the lines to copy show. */
const publicUrl = 'https://data.example.org'
const desk = { width: 1080, height: 720 }
const phone = { width: 360, height: 780 }

interface Shot {
  readonly name: string
  readonly path: string
  readonly size: typeof desk
  readonly scheme: 'light' | 'dark'
  /** Brings what is to be seen into view. */
  readonly prepare?: (page: Page) => Promise<void>
}

function shotsWith(token: string): readonly Shot[] {
  const financials = '/datasets/financials'
  const usage = async (page: Page) => {
    await page.locator('#token').fill(token)
    await page.keyboard.press('Enter')
    await page.locator('meter').first().waitFor()
  }
  return [
    { name: 'home', path: '/?lang=en', size: desk, scheme: 'light' },
    { name: 'home-dark', path: '/?lang=ru', size: desk, scheme: 'dark' },
    { name: 'home-phone', path: '/?lang=ru', size: phone, scheme: 'light' },
    { name: 'explorer', path: `${financials}?lang=en`, size: desk, scheme: 'light', prepare: run },
    {
      name: 'explorer-dark',
      path: `${financials}?lang=ru`,
      size: desk,
      scheme: 'dark',
      prepare: chart,
    },
    {
      name: 'explorer-phone',
      path: `${financials}?lang=en`,
      size: phone,
      scheme: 'dark',
      prepare: chart,
    },
    {
      name: 'columns',
      path: `${financials}?lang=en`,
      size: desk,
      scheme: 'light',
      prepare: search,
    },
    {
      name: 'snippets',
      path: `${financials}?lang=en`,
      size: desk,
      scheme: 'light',
      prepare: python,
    },
    { name: 'reference', path: '/docs', size: desk, scheme: 'light', prepare: operations },
    { name: 'usage', path: '/usage?lang=en', size: desk, scheme: 'light', prepare: usage },
  ]
}

async function run(page: Page): Promise<void> {
  await page.locator('button.primary').click()
  await page.locator('table.data').waitFor()
  await scrollTo(page, '#explorer')
}

async function chart(page: Page): Promise<void> {
  await run(page)
  await page.evaluate('document.querySelector(".chart").scrollIntoView({ block: "center" })')
}

async function python(page: Page): Promise<void> {
  await run(page)
  const tab = page.getByRole('tab', { name: 'Python' })
  await tab.click()
  await tab.evaluate((element) => {
    element.scrollIntoView()
  })
}

async function operations(page: Page): Promise<void> {
  await page.locator('.opblock').first().waitFor()
}

async function search(page: Page): Promise<void> {
  await scrollTo(page, '#columns')
  await page.getByLabel('Search columns').fill('profit')
}

async function scrollTo(page: Page, selector: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView()`)
}

/** A server over the shipped registry, with a subscriber of some months. */
async function withServer(use: (base: string, token: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'das-screenshots-'))
  const portalFolder = join(folder, 'portal')
  await buildPortal(portalFolder)
  const state = join(folder, 'state')
  const config = readConfig({ registry: 'registry.yaml', state, publicUrl }, {})
  const logger = pino({ level: 'silent' })
  const now = () => Date.now()
  const app = await buildApp(config, { logger, now, version: '0.0.0', portalFolder })
  const token = sell(state)
  try {
    await use(await app.server.listen({ host: '127.0.0.1', port: 0 }), token)
  } finally {
    await app.close()
    await rm(folder, { recursive: true })
  }
}

function sell(state: string): string {
  const months = Array.from({ length: 9 }, (_, index) => {
    const month = new Date()
    return month.setUTCMonth(month.getUTCMonth() - 8 + index, 1)
  })
  const [first = 0] = months
  const grants = [
    { dataset: 'financials', plan: 'pro' },
    { dataset: 'procurement', plan: 'start' },
  ]
  const control = ControlStore.open(join(state, 'control.db'))
  const { token, subscriptionId } = createSubscription(control, {
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
    chargeAll(control, [
      { ...charge, dataset: 'financials', rows },
      { ...charge, dataset: 'procurement', rows: Math.round(rows / 20) },
    ])
  }
  control.close()
  return token
}

async function takeAll(browser: Browser, base: string, token: string, out: string): Promise<void> {
  for (const { name, path, size, scheme, prepare } of shotsWith(token)) {
    const page = await browser.newPage({ viewport: size, colorScheme: scheme })
    await page.goto(base + path)
    await prepare?.(page)
    await page.screenshot({ path: join(out, `${name}.png`) })
    await page.close()
  }
}

async function takePictures(): Promise<void> {
  const values = readFlags(process.argv.slice(2), {
    out: { type: 'string', default: 'docs/screenshots' },
    help: { type: 'boolean' },
  })
  if (values.help) return console.log(help)
  await mkdir(values.out, { recursive: true })
  const options = { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] }
  const browser = await chromium.launch(options)
  try {
    await withServer((base, token) => takeAll(browser, base, token, values.out))
  } finally {
    await browser.close()
  }
}

await runScript('screenshots', takePictures)
