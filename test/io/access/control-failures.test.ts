import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import type { Test } from 'tap'
import { SqliteStore } from '../../../src/control/store/sqlite-store.js'
import { periodOf, readUsage } from '../../../src/control/usage.js'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import { build } from '../../cli/fixtures/das-process.js'
import { machine } from '../../support/machine.js'

// Guarantee: while control.db can't be written, no row leaves unpaid, the service says so, and it
// recovers by itself.

const built = await build(t)
const demoToken = 'das_demo_test1'
const page = '/v1/financials?inn=eq.0000000007'
/** What `page` holds: two years of one company. */
const pageRows = 2
const canLimitFiles = process.platform === 'linux'

/** The built server in a process of its own, a token for it, and what it delivered in all. */
async function startSold(t: Test) {
  const cli = await buildCliFixture(t)
  cli.clock.ms = Date.now()
  const order = ['subscription', 'create', '--email', 'a@b.c', '--plan', 'financials:pro']
  const { stdout } = await cli.das([...order, '--json'])
  const sold = JSON.parse(stdout) as { subscription: string; token: string }
  const server = await built.serve(cli)
  const path = join(cli.folder, 'var', 'control.db')
  const delivered = { rows: 0 }
  const ask = async (url: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(server.base + url, { headers })
    const body = (await response.json()) as { data?: unknown[] }
    if (token === sold.token && url === page) delivered.rows += body.data?.length ?? 0
    return { status: response.status, headers: response.headers, body }
  }
  const charged = async () => {
    const control = SqliteStore.open(path, machine)
    const { total } = await readUsage(control, sold.subscription, periodOf(Date.now()))
    const integrity = control.file.db.pragma('integrity_check', { simple: true })
    await control.close()
    return { rows: total, integrity }
  }
  return { cli, server, path, token: sold.token, ask, charged, delivered }
}

type Sold = Awaited<ReturnType<typeof startSold>>

const unavailable = {
  error: 'service_unavailable',
  detail: "The service can't keep its records right now. Try again shortly.",
}

async function isRefused(t: Test, { ask, token }: Sold): Promise<void> {
  const { status, headers, body } = await ask(page, token)
  t.equal(status, 503)
  t.same(body, unavailable, 'no row and nothing of the machine')
  t.equal(headers.get('retry-after'), '5')
}

async function isPaid(t: Test, { ask, token }: Sold): Promise<void> {
  const { status, body } = await ask(page, token)
  t.equal(status, 200)
  t.equal(body.data?.length, pageRows)
}

async function statusOf({ ask }: Sold, url: string): Promise<number> {
  return (await ask(url)).status
}

/** Asks until readiness is what it has to become. */
async function becomes(sold: Sold, status: number): Promise<void> {
  while ((await statusOf(sold, '/readyz')) !== status) {
    // A probe is made at most every two seconds.
  }
}

async function isExact(t: Test, sold: Sold, rows: number): Promise<void> {
  sold.server.kill('SIGTERM')
  t.equal(await sold.server.ended, 0)
  t.equal(sold.delivered.rows, rows)
  t.same(await sold.charged(), { rows, integrity: 'ok' })
}

/** Every write of the process to a file fails from now on (EFBIG), as on a full disk; or no more. */
function setFull({ server }: Sold, isFull: boolean): void {
  const size = isFull ? '0:unlimited' : 'unlimited:unlimited'
  execFileSync('/usr/bin/env', ['prlimit', '--pid', String(server.pid), `--fsize=${size}`])
}

await t.test(
  'a full disk is 503 without rows; with free space it is 200 again',
  { skip: !canLimitFiles && 'needs prlimit' },
  async (t) => {
    const sold = await startSold(t)
    await isPaid(t, sold)
    t.equal(await statusOf(sold, '/readyz'), 200)
    for (const round of [1, 2]) {
      setFull(sold, true)
      for (let request = 0; request < 5; request += 1) await isRefused(t, sold)
      t.equal(await statusOf(sold, '/readyz'), 503)
      t.equal(await statusOf(sold, '/healthz'), 200)
      const demo = await sold.ask('/v1/financials?inn=eq.0000000001', demoToken)
      t.equal(demo.status, 200, 'nothing is charged there')
      t.equal(demo.body.data?.length, pageRows)
      setFull(sold, false)
      await isPaid(t, sold)
      t.equal(await statusOf(sold, '/readyz'), 200, `green again, round ${round}`)
    }
    const lines = sold.server.stdout().split('\n')
    t.equal(lines.filter((line) => line.includes("control.db can't be written")).length, 2)
    t.equal(lines.filter((line) => line.includes('control.db can be written again')).length, 2)
    await isExact(t, sold, 3 * pageRows)
  },
)

await t.test(
  'readiness notices a full disk and its end without another writer',
  { skip: !canLimitFiles && 'needs prlimit' },
  async (t) => {
    const sold = await startSold(t)
    setFull(sold, true)
    await becomes(sold, 503)
    t.match(sold.server.stdout(), /SQLITE_(IOERR|FULL).*control\.db can't be written/)
    setFull(sold, false)
    await becomes(sold, 200)
    await isExact(t, sold, 0)
  },
)

/** Takes the write lock of control.db, as another process has it. */
function lock(t: Test, { path }: Sold): () => void {
  const holder = new Database(path)
  t.teardown(() => holder.close())
  holder.exec('BEGIN EXCLUSIVE')
  return () => {
    holder.exec('ROLLBACK')
  }
}

await t.test('a lock that stays is 503 after the wait, and other requests work', async (t) => {
  const sold = await startSold(t)
  const release = lock(t, sold)
  const order: string[] = []
  const refused = Promise.all([1, 2, 3].map(() => isRefused(t, sold))).then(() => {
    order.push('charges')
  })
  for (let check = 0; check < 5; check += 1) {
    t.equal(await statusOf(sold, '/healthz'), 200)
    t.equal((await sold.ask('/v1/financials?inn=eq.0000000001', demoToken)).status, 200)
  }
  order.push('healthz and demo')
  await refused
  t.same(order, ['healthz and demo', 'charges'])
  t.equal(await statusOf(sold, '/readyz'), 503)
  release()
  await isPaid(t, sold)
  t.equal(await statusOf(sold, '/readyz'), 200)
  await isExact(t, sold, pageRows)
})

await t.test('a lock that ends while charges wait costs no error', async (t) => {
  const sold = await startSold(t)
  const release = lock(t, sold)
  const order: string[] = []
  const paid = Promise.all([1, 2, 3].map(() => isPaid(t, sold))).then(() => order.push('charges'))
  for (let check = 0; check < 5; check += 1) {
    t.equal((await sold.ask(page, demoToken)).status, 200)
  }
  t.equal(await statusOf(sold, '/readyz'), 200, 'a short lock is no reason')
  order.push('released')
  release()
  await paid
  t.same(order, ['released', 'charges'])
  await isExact(t, sold, 3 * pageRows)
})

await t.test('a client that hangs up while its charge waits is not charged', async (t) => {
  const sold = await startSold(t)
  const release = lock(t, sold)
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${sold.token}` }
  const abandoned = fetch(sold.server.base + page, { headers, signal: gone.signal })
  t.equal((await sold.ask(page, demoToken)).status, 200)
  gone.abort()
  await t.rejects(abandoned)
  await sold.server.logged('"status":499')
  release()
  await isPaid(t, sold)
  await isExact(t, sold, pageRows)
})

// Guarantee: a revocation is never without effect, also after a restore under a running server.
await t.test(
  'a control.db restored without a stop is served, and commands act on it',
  async (t) => {
    const sold = await startSold(t)
    const { cli, path } = sold
    await isPaid(t, sold)
    const backup = join(cli.folder, 'copy.db')
    t.equal((await cli.das(['backup', backup])).code, 0)
    const aside = join(cli.folder, 'var', 'aside')
    execFileSync('sh', ['-ec', `mkdir ${aside}; mv ${path}* ${aside}/`])
    await becomes(sold, 503)
    await isRefused(t, sold)
    copyFileSync(backup, path)
    await becomes(sold, 200)
    await isPaid(t, sold)
    t.same(
      await sold.charged(),
      { rows: 2 * pageRows, integrity: 'ok' },
      'one page before the backup',
    )
    const listed = await cli.das(['dataset', 'list', '--json'])
    t.match(JSON.parse(listed.stdout), [{ name: 'financials', status: 'serving' }, {}])
    const tokens = await cli.das(['token', 'list', '--json'])
    const [{ id }] = JSON.parse(tokens.stdout) as [{ id: string }]
    t.match(await cli.das(['token', 'revoke', id]), { code: 0, stdout: /is revoked/ })
    t.equal((await sold.ask(page, sold.token)).status, 401)
    const lines = sold.server.stdout().split('\n')
    for (const event of ['was removed or replaced', 'is sound and in use']) {
      t.equal(lines.filter((line) => line.includes(event)).length, 1, event)
    }
  },
)

await t.test(
  'descriptors that run out are logged with the limit',
  { skip: !canLimitFiles && 'needs prlimit' },
  async (t) => {
    const { server, ask, token } = await startSold(t)
    const setSoftLimit = (files: number) => {
      execFileSync('/usr/bin/env', ['prlimit', '--pid', String(server.pid), `--nofile=${files}:`])
    }
    setSoftLimit(3)
    await server.logged('no more files can be opened')
    t.match(server.stdout(), /"code":"EMFILE".*no more files.*`ulimit -n 65536` in the shell/)
    setSoftLimit(1024)
    t.equal((await ask(page, token)).status, 200)
  },
)
