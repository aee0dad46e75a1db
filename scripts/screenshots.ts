import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import type { Page } from 'playwright-core'

const help = `Usage: npm run screenshots -- --server URL [--out FOLDER]

Pictures of the portal, of a server that runs over the shipped registry.
  --server U  the server's address
  --out F     where to (default docs/screenshots)
  --help      this text`

const wide = { width: 1200, height: 900 }
const phone = { width: 360, height: 780 }

interface Shot {
  readonly name: string
  readonly path: string
  readonly size: typeof wide
  readonly scheme: 'light' | 'dark'
  readonly prepare?: (page: Page) => Promise<void>
}

const financials = '/datasets/financials'

const shots: readonly Shot[] = [
  { name: 'home-light', path: '/?lang=en', size: wide, scheme: 'light' },
  { name: 'home-dark-ru', path: '/?lang=ru', size: wide, scheme: 'dark' },
  { name: 'home-phone', path: '/?lang=en', size: phone, scheme: 'light' },
  {
    name: 'dataset-light',
    path: `${financials}?lang=en`,
    size: wide,
    scheme: 'light',
    prepare: run,
  },
  {
    name: 'dataset-dark-ru',
    path: `${financials}?lang=ru`,
    size: wide,
    scheme: 'dark',
    prepare: run,
  },
  {
    name: 'dataset-phone',
    path: `${financials}?lang=en`,
    size: phone,
    scheme: 'dark',
    prepare: run,
  },
]

async function run(page: Page): Promise<void> {
  await page.locator('button.primary').click()
  await page.locator('table.data').waitFor()
  await page.locator('#explorer').scrollIntoViewIfNeeded()
}

async function takeAll(server: string, out: string): Promise<void> {
  await mkdir(out, { recursive: true })
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  for (const { name, path, size, scheme, prepare } of shots) {
    const page = await browser.newPage({ viewport: size, colorScheme: scheme })
    await page.goto(server + path)
    await prepare?.(page)
    await page.screenshot({ path: join(out, `${name}.png`), fullPage: true })
    await page.close()
  }
  await browser.close()
}

const { values } = parseArgs({
  options: {
    server: { type: 'string', default: '' },
    out: { type: 'string', default: 'docs/screenshots' },
    help: { type: 'boolean' },
  },
})
if (values.help || values.server === '') console.log(help)
else await takeAll(values.server, values.out)
