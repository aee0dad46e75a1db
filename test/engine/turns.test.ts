import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { Turns } from '../../src/engine/duckdb/turns.js'

const never = new AbortController().signal
setMaxListeners(0, never)
const patient = { slots: 1, queueMax: 100, waitMaxMs: 60_000 }

/** Work that runs until it is told to end, and notes when it began. */
function workshop(turns: Turns) {
  const started: string[] = []
  const ends: (() => void)[] = []
  const add = (client: string, signal: AbortSignal = never) =>
    turns.run(client, signal, () => {
      started.push(client)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  /** Ends the oldest piece of work and lets the next one begin. */
  const finishOne = async () => {
    ends.shift()?.()
    await setImmediate()
  }
  return { started, add, finishOne, running: () => ends.length }
}

await t.test('clients take turns, so one with many requests never starves another', async (t) => {
  const { started, add, finishOne } = workshop(new Turns(patient))
  const all = ['busy', 'busy', 'busy', 'busy', 'quiet', 'other'].map((client) => add(client))
  for (let count = 0; count < all.length; count++) await finishOne()
  await Promise.all(all)
  t.same(started, ['busy', 'busy', 'quiet', 'other', 'busy', 'busy'])
})

await t.test('a full queue sends away the last of whoever has the most waiting', async (t) => {
  const { started, add, finishOne } = workshop(new Turns({ ...patient, queueMax: 3 }))
  const running = add('busy')
  const [first, second, third] = [add('busy'), add('busy'), add('busy')]
  const quiet = add('quiet')
  await t.rejects(third, { code: 'service_unavailable', retryAfterSeconds: 1 })
  await t.rejects(add('busy'), { code: 'service_unavailable' }, 'the busy one gains nothing')
  for (let count = 0; count < 4; count++) await finishOne()
  await Promise.all([running, first, second, quiet])
  t.same(started, ['busy', 'busy', 'quiet', 'busy'])
})

await t.test('a wait that is aborted ends at once and leaves the queue', async (t) => {
  const { started, add, finishOne } = workshop(new Turns({ ...patient, queueMax: 1 }))
  const running = add('a')
  const gone = new AbortController()
  const waiting = add('b', gone.signal)
  gone.abort(new Error('the client is gone'))
  await t.rejects(waiting, { message: 'the client is gone' })
  const next = add('c')
  await finishOne()
  await finishOne()
  await Promise.all([running, next])
  t.same(started, ['a', 'c'])
  await t.rejects(add('d', gone.signal), { message: 'the client is gone' })
  t.same(started, ['a', 'c'], 'what is aborted beforehand never begins')
})

await t.test('a wait that takes too long is refused, and takes no place', async (t) => {
  const { started, add, finishOne } = workshop(new Turns({ ...patient, waitMaxMs: 1 }))
  const running = add('a')
  await t.rejects(add('b'), { code: 'service_unavailable', retryAfterSeconds: 1 })
  await finishOne()
  await running
  const next = add('c')
  await finishOne()
  await next
  t.same(started, ['a', 'c'])
})

await t.test('work that throws gives its place back', async (t) => {
  const turns = new Turns(patient)
  const broken = turns.run('a', never, () => Promise.reject(new Error('broken')))
  await t.rejects(broken, { message: 'broken' })
  t.equal(await turns.run('b', never, async () => 'runs'), 'runs')
})

await t.test('never more run than there are places, and everything admitted is run', async (t) => {
  const clients = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(clients, fc.integer({ min: 1, max: 4 }), async (requests, slots) => {
      const turns = new Turns({ ...patient, slots })
      let [running, most] = [0, 0]
      const work = async () => {
        running += 1
        most = Math.max(most, running)
        await setImmediate()
        running -= 1
      }
      await Promise.all(requests.map((client) => turns.run(client, never, work)))
      return most === Math.min(slots, requests.length) && running === 0
    }),
    { numRuns: 100 },
  )
  t.pass('for 100 mixes of clients and places')
})
