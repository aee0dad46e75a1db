import t from 'tap'
import { abortAfter, machineClock } from '../src/clock.js'
import { machineRandom } from '../src/random.js'
import { MovingClock } from './support/moving-clock.js'

await t.test('timers of a moved clock run in the order in which they are due', async (t) => {
  const clock = new MovingClock(1000)
  const seen: string[] = []
  clock.after(20, () => seen.push(`b ${clock.now()} ${clock.monotonicMs()}`))
  clock.after(10, () => seen.push(`a ${clock.now()} ${clock.monotonicMs()}`))
  clock.after(20, () => seen.push('c'))
  await clock.advance(9)
  t.same(seen, [])
  await clock.advance(11)
  t.same(seen, ['a 1010 10', 'b 1020 20', 'c'])
  t.equal(clock.waiting, 0)
})

await t.test('work that a timer starts ends before the next timer runs', async (t) => {
  const clock = new MovingClock(0)
  const seen: string[] = []
  const work = async () => {
    await clock.sleep(10)
    seen.push(`slept until ${clock.now()}`)
    await clock.sleep(10)
    seen.push(`slept until ${clock.now()}`)
  }
  const working = work()
  clock.after(15, () => seen.push(`between ${clock.now()}`))
  await clock.advance(30)
  await working
  t.same(seen, ['slept until 10', 'between 15', 'slept until 20'])
  t.equal(clock.now(), 30)
})

await t.test('a repeated timer runs until it is stopped', async (t) => {
  const clock = new MovingClock(0)
  const times: number[] = []
  const stop = clock.every(10, () => times.push(clock.now()))
  await clock.advance(35)
  stop()
  await clock.advance(100)
  t.same(times, [10, 20, 30])
})

await t.test('the wall clock is set without moving timers', async (t) => {
  const clock = new MovingClock(5000)
  let ran = 0
  clock.after(10, () => (ran += 1))
  clock.ms = 0
  await clock.advance(10)
  t.same([ran, clock.now(), clock.monotonicMs()], [1, 10, 10])
})

for (const [name, clock] of [
  ['the machine', machineClock],
  ['a moved clock', new MovingClock(0)],
  ['a moved clock that flows', new MovingClock(0, { flows: true })],
] as const) {
  await t.test(`${name}: a sleep ends with the reason of its signal`, async (t) => {
    const reason = new Error('enough')
    const stop = new AbortController()
    const sleeping = clock.sleep(1e6, stop.signal)
    stop.abort(reason)
    await t.rejects(sleeping, reason)
    await t.rejects(clock.sleep(1e6, stop.signal), reason)
  })
  await t.test(`${name}: what is cancelled does not run`, async (t) => {
    const stops = [clock.after(0, () => t.fail()), clock.every(1, () => t.fail())]
    for (const stop of stops) stop()
    if (clock instanceof MovingClock) await clock.advance(5)
    else await clock.sleep(5)
  })
}

await t.test('a moved clock that flows can also be advanced', async (t) => {
  const clock = new MovingClock(0, { flows: true })
  await clock.sleep(1)
  t.equal(clock.now(), 0, 'the wall clock stands')
  const sleeping = clock.sleep(1e6)
  await clock.advance(1e6)
  await sleeping
  t.equal(clock.now(), 1e6)
})

await t.test('a signal aborts after its time', async (t) => {
  const clock = new MovingClock(0)
  const signal = abortAfter(clock, 10)
  await clock.advance(9)
  t.equal(signal.aborted, false)
  await clock.advance(1)
  t.equal((signal.reason as DOMException).name, 'TimeoutError')
})

await t.test('random numbers are in their range', (t) => {
  t.equal(machineRandom.bytes(12).length, 12)
  t.ok(Array.from({ length: 50 }, () => machineRandom.below(3)).every((n) => [0, 1, 2].includes(n)))
  t.match(machineRandom.uuid(), /^[0-9a-f-]{36}$/)
  t.end()
})
