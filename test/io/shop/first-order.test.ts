import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { compiled } from '../../cli/fixtures/das-process.js'
import { codeIdIn, tokenIn } from '../../portal/fixtures/shop-world.js'
import { letterTo, startMailServer } from '../../sales/letters/fixtures/mail-server.js'
import { testFolder } from '../../support/folder.js'
import { exampleAfter } from '../../support/pages.js'

// "The first paid order" in docs/shop.md, step by step: its settings, its registry, its message.

const page = 'docs/shop.md'
const section = '## The first paid order'
const email = 'buyer@example.org'
const run = promisify(execFile)

/** Runs a block of the page; what it prints. */
async function bash(script: string, environment: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env['PATH'], ...environment }
  return (await run('bash', ['-euc', script], { env })).stdout
}

await t.test('an owner comes from nothing to the first paid order', async (t) => {
  const folder = testFolder(t)
  cpSync('data', join(folder, 'data'), { recursive: true })
  const registry = readFileSync('registry.yaml', 'utf8') + exampleAfter(page, section, 'yaml', '')
  writeFileSync(join(folder, 'registry.yaml'), registry)
  const printed = await bash(`${exampleAfter(page, section, 'sh', 'http://127.0.0.1')}\nenv`)
  const settings = [...printed.matchAll(/^(DAS_\w+)=(.*)$/gm)]
  const mail = await startMailServer(t)
  const environment = {
    ...Object.fromEntries(settings.map(([, name = '', value = '']) => [name, value])),
    DAS_SMTP_URL: mail.url,
  }
  const built = compiled(t)
  const site = { folder, environment }
  const { base } = await built.serve(site)
  const send = async (path: string, fields: Readonly<Record<string, string>>) => {
    const headers = { 'sec-fetch-site': 'same-origin' }
    const body = new URLSearchParams(fields)
    return (await fetch(base + path, { method: 'POST', headers, body })).text()
  }

  const asked = await send('/order', { plan: 'financials:start', months: '1', email })
  const code = /^ {4}(\d{8})$/m.exec(await letterTo(mail, email, /Your code/))?.[1] ?? ''
  const placed = await send('/order/code', { id: codeIdIn({ text: asked }), code })
  const [order = ''] = /ord_[0-9A-Za-z]{16}/.exec(placed) ?? []
  t.match(placed, `Pay 990 RUB to account 40702810000000000001, and write &quot;${order}&quot;`)
  t.match(placed, `Invoice ${order}`)
  t.match(await letterTo(mail, 'owner@example.org', /^New order/), '/owner/order#das_order_')

  const message = exampleAfter(page, '## Payments by webhook', 'bash', base)
  const report = message.replace('ord_0123456789abcdef', order)
  t.equal((await bash(report, environment)).trim(), '204')
  const token = tokenIn(await letterTo(mail, email, /^Your access/))
  const headers = { Authorization: `Bearer ${token}` }
  const { status } = await fetch(`${base}/v1/financials?inn=eq.7708004767`, { headers })
  t.equal(status, 200)
  t.match((await built.das(site, ['order', 'list', '--all'])).stdout, `${order}`)
  t.match((await built.das(site, ['report', 'revenue', '--csv'])).stdout, /,1,990$/m)
})
