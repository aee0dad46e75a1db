import { RateLimits } from '../src/access/rate-limits.js'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { readsOf } from '../src/control/admission-reads.js'
import { ChargeQueue } from '../src/access/charge-queue.js'
import { LastUsed } from '../src/control/tokens/last-used.js'
import type { Engine } from '../src/engine/engine.js'
import { ServiceError } from '../src/errors.js'
import { buildServer } from '../src/http/server.js'
import { createService } from '../src/service.js'
import { isError } from './support/answers.js'
import { openControl, usageOf } from './support/control.js'
import { openChargesOf, openRecordsOf, sqliteOnly } from './support/database.js'
import { filesOnly } from './support/tables.js'
import { startThings } from './support/things.js'
import type { Answer, World } from './support/world.js'
import { machineRandom } from '../src/random.js'
import { sql } from '../src/control/store/sql.js'
import { MovingClock } from './support/moving-clock.js'
import { noChanges, noNames } from './support/no-names.js'

/** An engine that has what it is asked for at once, and counts how often it was asked. */
function countingEngine() {
  const asked = { reads: 0, beforeAnswer: () => undefined as unknown }
  const engine: Engine = {
    read: async ({ limit, format }) => {
      asked.reads += 1
      await asked.beforeAnswer()
      const rows = Array.from({ length: limit }, (_, row) => ({
        encoded: Buffer.from(`{"id":"secret ${row}"}`),
        position: { file: 0, row },
      }))
      const file = Buffer.from(`a file of ${limit} rows`)
      return { rows, hasMore: true, ...(format === 'parquet' && { file }) }
    },
    count: () => Promise.resolve(1),
    profile: () => Promise.reject(new Error('not asked for')),
    summarize: () => Promise.reject(new Error('not asked for')),
    top: () => Promise.reject(new Error('not asked for')),
    close: () => Promise.resolve(),
  }
  return { engine, asked }
}

/** A door of its own onto the world's catalog and database, which gives up on locks at once. */
function impatientDoor(t: Test, world: World, engine: Engine) {
  const state = join(world.folder, 'var')
  const { clock } = world
  const lockClock = new MovingClock(0)
  const control = openRecordsOf(state)
  control.file?.setBusyTimeout(20)
  const charges = new ChargeQueue(openChargesOf(state, 20), lockClock)
  const service = createService({
    rates: RateLimits.inMemory(clock.monotonicMs, machineRandom),
    catalog: world.app.catalog,
    control,
    charges,
    reads: readsOf(control),
    lastUsed: new LastUsed(control, clock.now, () => undefined),
    engine,
    cursorKey: Buffer.alloc(32),
    names: noNames,
    changes: { ...noChanges, control },
    clock,
  })
  const logger = pino({ level: 'silent' })
  const server = buildServer({
    clock,
    random: machineRandom,
    service,
    logger,
    trustProxy: [],
    corsOrigins: [],
    doors: [],
    isReady: async () => true,
    isUpToDate: () => true,
    isDamaged: () => false,
    isStopping: () => false,
  })
  t.teardown(async () => {
    await server.close()
    await charges.close()
    await control.close()
  })
  return async (url: string, token: string): Promise<Answer> => {
    const request = { url, headers: { authorization: `Bearer ${token}` } }
    const { statusCode, headers, body } = await lockClock.advanceUntil(server.inject(request))
    return { status: statusCode, headers, text: body, body: parsed(headers, body) }
  }
}

/** A body of JSON parsed; nothing of a file. */
function parsed(headers: Answer['headers'], body: string): Answer['body'] {
  const isJson = String(headers['content-type']).startsWith('application/json')
  return (isJson ? JSON.parse(body) : {}) as Answer['body']
}

// Guarantee: what can't be charged is not delivered.
await t.test(
  'a locked database is 503 without rows, and the next request works',
  sqliteOnly('lock'),
  async (t) => {
    const world = await startThings(t)
    const control = openControl(t, world)
    const { engine, asked } = countingEngine()
    const get = impatientDoor(t, world, engine)
    const { token, subscriptionId } = await world.subscribe(['things:pro'])
    const lock = new Database(join(world.folder, 'var/control.db'))
    t.teardown(() => lock.close())
    lock.exec('BEGIN EXCLUSIVE')
    const answers = await Promise.all(
      ['1', '2', '3'].map((limit) => get(`/v1/things?limit=${limit}`, token)),
    )
    for (const answer of answers) {
      isError(t, answer, 'service_unavailable', /can't keep its records right now/)
      t.equal(answer.headers['retry-after'], '5')
      t.notMatch(answer.text, /secret/)
    }
    t.equal(asked.reads, 3, 'the rows were there')
    t.equal((await usageOf(control, world, subscriptionId)).total, 0)
    lock.exec('COMMIT')
    const answer = await get('/v1/things?limit=2', token)
    t.equal(answer.body.data.length, 2)
    t.equal((await usageOf(control, world, subscriptionId)).total, 2)
  },
)

await t.test('a database that is gone refuses every caller, without a reason', async (t) => {
  const world = await startThings(t)
  const { engine, asked } = countingEngine()
  const get = impatientDoor(t, world, engine)
  const { token } = await world.subscribe(['things:pro'])
  const control = openControl(t, world)
  await control.run(sql`ALTER TABLE tokens RENAME TO lost`)
  const answer = await get('/v1/things', token)
  isError(
    t,
    answer,
    'internal_error',
    /^Something went wrong in the service\. Report the X-Request-Id of this answer\.$/,
  )
  t.equal(asked.reads, 0)
  await control.run(sql`ALTER TABLE lost RENAME TO tokens`)
  t.equal((await get('/v1/things', token)).status, 200)
})

// Guarantee: a subscription that another request emptied meanwhile gets nothing more.
await t.test('the last rows, taken while a page was read, are not delivered twice', async (t) => {
  const world = await startThings(t)
  const { engine, asked } = countingEngine()
  const get = impatientDoor(t, world, engine)
  const { token } = await world.subscribe(['things:tiny'])
  asked.beforeAnswer = async () => {
    asked.beforeAnswer = () => undefined
    t.equal((await world.get('/v1/things?limit=7', token)).body.data.length, 7)
  }
  const late = await get('/v1/things?limit=5', token)
  isError(t, late, 'row_quota_exceeded')
  t.equal(late.headers['x-quota-rows-remaining'], '0')
  t.notMatch(late.text, /secret/)
})

await t.test('the engine is asked only when every check is passed', async (t) => {
  const world = await startThings(t)
  const { engine, asked } = countingEngine()
  const get = impatientDoor(t, world, engine)
  const { token } = await world.subscribe(['things:tiny'])
  await get('/v1/things', 'das_live_no')
  await get('/v1/days', token)
  await get('/v1/things?x=eq.1', token)
  await get('/v1/things?format=xml', token)
  t.equal(asked.reads, 0)
  await get('/v1/things?limit=7', token)
  t.equal(asked.reads, 1)
  isError(t, await get('/v1/things', token), 'row_quota_exceeded')
  t.equal(asked.reads, 1)
})

// Guarantee: a file that is not delivered is not charged. Rows can't be taken out of a file, so one
// of fewer rows is made first, and then charged.
await t.test(
  'a Parquet page that a race cuts is read again before it is charged',
  filesOnly('parquet'),
  async (t) => {
    const world = await startThings(t)
    const control = openControl(t, world)
    const { engine, asked } = countingEngine()
    const get = impatientDoor(t, world, engine)
    const parquet = '/v1/things?format=parquet&limit=5'
    const take = async (token: string, rows: number) => {
      t.equal((await world.get(`/v1/things?limit=${rows}`, token)).body.data.length, rows)
    }
    const failing = await world.subscribe(['things:tiny'])
    asked.beforeAnswer = () => {
      asked.beforeAnswer = () => {
        throw new ServiceError('timeout', 'The request did not finish.')
      }
      return take(failing.token, 3)
    }
    isError(t, await get(parquet, failing.token), 'timeout')
    t.equal(asked.reads, 2)
    t.equal(
      (await usageOf(control, world, failing.subscriptionId)).total,
      3,
      'those of the other request',
    )

    const { token, subscriptionId } = await world.subscribe(['things:tiny'])
    asked.beforeAnswer = () => {
      asked.beforeAnswer = () => undefined
      return take(token, 3)
    }
    const cut = await get(parquet, token)
    t.match(cut, { status: 200, text: 'a file of 4 rows' })
    t.equal(cut.headers['x-quota-rows-remaining'], '0')
    t.type(cut.headers['x-next-cursor'], 'string')
    t.equal(cut.headers['etag'], undefined)
    t.equal((await usageOf(control, world, subscriptionId)).total, 7)
  },
)

await t.test(
  'a Parquet page that concurrent charges cut repeatedly is 503 and is not charged',
  filesOnly('parquet'),
  async (t) => {
    const world = await startThings(t)
    const control = openControl(t, world)
    const { engine, asked } = countingEngine()
    const get = impatientDoor(t, world, engine)
    const { token, subscriptionId } = await world.subscribe(['things:tiny'])
    asked.beforeAnswer = () => world.get('/v1/things?limit=1', token)
    const answer = await get('/v1/things?format=parquet&limit=7', token)
    isError(t, answer, 'service_unavailable', /Other requests .+ used its quota/)
    t.equal(answer.headers['retry-after'], '1')
    t.equal(answer.headers['x-quota-rows-remaining'], '4')
    t.equal(asked.reads, 3)
    t.equal((await usageOf(control, world, subscriptionId)).total, 3, 'those of the other requests')
    const last = await world.subscribe(['things:tiny'])
    asked.beforeAnswer = () => world.get('/v1/things?limit=7', last.token)
    isError(t, await get('/v1/things?format=parquet', last.token), 'row_quota_exceeded')
    t.equal(asked.reads, 4, 'with nothing left it is not read again')
  },
)
