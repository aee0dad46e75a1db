import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { AdvisoryLock } from '../../src/control/postgres/advisory-lock.js'
import { thrownBy } from '../control/fixtures/store.js'
import { freshSchema, startPostgres } from './fixtures/postgres.js'

const server = await startPostgres(t)

function openLock(t: Test, schema: string): AdvisoryLock {
  const lock = new AdvisoryLock(server.url, { schema })
  t.teardown(() => lock.close())
  return lock
}

/** Tries until the name is taken; the seconds that it took, at most 20. */
async function takeover(lock: AdvisoryLock, name: string): Promise<number> {
  const start = performance.now()
  while (!(await lock.tryTake(name).catch(() => false))) {
    if (performance.now() - start > 20_000) break
    await sleep(100)
  }
  return (performance.now() - start) / 1000
}

await t.test('one server at a time holds a name, until it releases it or closes', async (t) => {
  const schema = freshSchema()
  const [one, two] = [openLock(t, schema), openLock(t, schema)]
  t.equal(await one.tryTake('letters'), true)
  t.equal(await one.tryTake('letters'), true, 'again by its holder')
  t.equal(await two.tryTake('letters'), false)
  t.equal(await two.tryTake('packing'), true, 'another name')
  t.equal(await openLock(t, freshSchema()).tryTake('letters'), true, 'another schema')
  await one.release('letters')
  t.equal(await two.tryTake('letters'), true, 'it was released once and for all')
  await two.close()
  t.equal(await one.tryTake('letters'), true)
  t.equal(await two.tryTake('tidying'), false, 'a closed one takes nothing')
})

await t.test('of many that try together, one takes the name', async (t) => {
  const schema = freshSchema()
  const locks = Array.from({ length: 8 }, () => openLock(t, schema))
  const taken = await Promise.all(
    locks.flatMap((lock) => [lock.tryTake('letters'), lock.tryTake('letters')]),
  )
  t.equal(taken.filter(Boolean).length, 2, 'both tries of one of them')
})

await t.test('a name is taken over from a process that is killed', async (t) => {
  const schema = freshSchema()
  const program = new URL('./fixtures/postgres-lock-process.js', import.meta.url)
  const child = fork(program, [server.url, schema, 'letters'])
  t.same(await once(child, 'message'), [true, undefined])
  const lock = openLock(t, schema)
  t.equal(await lock.tryTake('letters'), false)
  child.kill('SIGKILL')
  t.ok((await takeover(lock, 'letters')) < 5)
})

await t.test('a holder that lost its connection knows it', async (t) => {
  const schema = freshSchema()
  const [one, two] = [openLock(t, schema), openLock(t, schema)]
  t.equal(await one.tryTake('letters'), true)
  await server.stop()
  t.match(await thrownBy(() => one.tryTake('letters')), { code: 'service_unavailable' })
  await server.start()
  t.ok((await takeover(two, 'letters')) < 5)
  t.equal(await one.tryTake('letters'), false)
})
