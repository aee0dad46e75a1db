import t from 'tap'
import { Rounds } from '../src/rounds.js'
import { MovingClock } from './support/moving-clock.js'

/** Rounds of a second, which end when the test says so. */
function open(t: { readonly teardown: (end: () => Promise<void>) => void }) {
  const clock = new MovingClock(0)
  const ends: (() => void)[] = []
  let begun = 0
  const rounds = new Rounds({
    every: clock.every,
    everyMs: 1000,
    work: () => {
      begun += 1
      return new Promise((resolve) => ends.push(resolve))
    },
    report: () => undefined,
  })
  t.teardown(async () => {
    ends.forEach((end) => end())
    await rounds.close()
  })
  return { clock, rounds, begun: () => begun, endRound: () => ends.shift()?.() }
}

await t.test('a round begins at the start and after each interval, one at a time', async (t) => {
  const { clock, rounds, begun, endRound } = open(t)
  const first = rounds.start()
  t.equal(begun(), 1)
  await clock.advance(3000)
  t.equal(begun(), 1, 'the first one still runs')
  endRound()
  await first
  await clock.advance(1000)
  t.equal(begun(), 2)
})

await t.test('work that is added during a round is done in one round after it', async (t) => {
  const { rounds, begun, endRound } = open(t)
  const first = rounds.run()
  const both = Promise.all([rounds.runAgain(), rounds.runAgain()])
  t.equal(begun(), 1)
  endRound()
  await first
  await Promise.resolve()
  t.equal(begun(), 2)
  endRound()
  await both
  t.equal(begun(), 2)
})

await t.test('a closed part waits for its round, and begins no other', async (t) => {
  const { clock, rounds, begun, endRound } = open(t)
  void rounds.start()
  let isClosed = false
  const closed = rounds.close().then(() => {
    isClosed = true
  })
  await clock.advance(2000)
  t.notOk(isClosed)
  endRound()
  await closed
  await Promise.all([rounds.run(), rounds.runAgain(), rounds.start()])
  t.equal(begun(), 1)
})

await t.test('a round that fails is reported, and the next one runs', async (t) => {
  const failures: unknown[] = []
  let isBroken = true
  const rounds = new Rounds({
    every: () => () => undefined,
    everyMs: 1000,
    work: async () => {
      if (isBroken) throw new Error('broken')
    },
    report: (cause) => failures.push(cause),
  })
  await rounds.run()
  isBroken = false
  await rounds.run()
  t.match(failures, [{ message: 'broken' }])
})
