import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { buildApp } from '../../src/app.js'
import { readConfig } from '../../src/config.js'
import { copyStore } from '../../src/control/postgres/copy-store.js'
import { PostgresStore } from '../../src/control/postgres/postgres-store.js'
import { SqliteStore } from '../../src/control/store/sqlite-store.js'
import { readUsage } from '../../src/control/usage.js'
import { startThings } from '../support/things.js'
import type { World } from '../support/world.js'
import { startPostgres } from './fixtures/postgres.js'
import { machine } from '../support/machine.js'
import { machineClock } from '../../src/clock.js'
import { machineRandom } from '../../src/random.js'

const first = '/v1/big?limit=700&id=lt.5000'
const rowsOfWalk = 5000
const pagesBefore = 3

type Page = Pick<Awaited<ReturnType<World['get']>>, 'status' | 'headers' | 'body'>
type Get = (url: string) => Promise<Page>

/** Follows cursors for so many pages at most; returns the ids, and the URL of the next page. */
async function walk(t: Test, get: Get, from: string, pagesMax = Infinity) {
  const ids: unknown[] = []
  let [url, pages]: [string | null, number] = [from, 0]
  for (; url !== null && pages < pagesMax; pages += 1) {
    const { status, body } = await get(url)
    t.equal(status, 200)
    ids.push(...body.data.map(({ id }) => id))
    url = body.next_cursor && `${first}&cursor=${encodeURIComponent(body.next_cursor)}`
  }
  return { ids, url }
}

/** A server with the same registry and files, a new state folder, and the PostgreSQL. */
async function startShared(t: Test, { folder, clock }: World, url: string, token: string) {
  const place = { registry: join(folder, 'registry.yaml'), state: join(folder, 'other') }
  const app = await buildApp(readConfig(place, { DAS_CONTROL_URL: url }), {
    logger: pino({ level: 'silent' }),
    clock: { ...machineClock, now: () => clock.ms },
    random: machineRandom,
    version: '0.0.0-test',
  })
  t.teardown(() => app.close())
  return async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const authorization = `Bearer ${token}`
    const request = { url: path, headers: { authorization, ...headers } }
    const answer = await app.server.inject(request)
    const body = answer.body === '' ? {} : answer.json<Page['body']>()
    return { status: answer.statusCode, headers: answer.headers, body: body as Page['body'] }
  }
}

await t.test('a walk and an entity tag of one server go on after its move', async (t) => {
  const { url } = await startPostgres(t)
  const world = await startThings(t)
  const { token, subscriptionId } = await world.subscribe(['big:pro'])
  const before = await walk(t, (path) => world.get(path, token), first, pagesBefore)
  const etag = String((await world.get(first, token)).headers['etag'])
  await world.app.close()

  const file = SqliteStore.open(join(world.folder, 'var', 'control.db'), machine)
  const shared = new PostgresStore(url, machine)
  t.teardown(() => Promise.all([file.close(), shared.close()]))
  await copyStore(file, shared, join(world.folder, 'var'))

  const get = await startShared(t, world, url, token)
  const after = await walk(t, get, before.url ?? '')
  t.same(
    [...before.ids, ...after.ids],
    Array.from({ length: rowsOfWalk }, (_, id) => id),
  )
  t.equal((await get(first, { 'if-none-match': etag })).status, 304)
  const { total } = await readUsage(shared, subscriptionId, '2026-11')
  t.equal(total, rowsOfWalk + 700, 'both servers charged one account')
  t.equal((await get(before.url ?? '', { authorization: 'Bearer das_other' })).status, 401)
})
