import t from 'tap'
import { timeLimit } from '../../../src/engine/deadline.js'
import type { QuerySize } from '../../../src/engine/duckdb/turns/turn.js'
import { NamedTurns, settled } from '../fixtures/named-turns.js'

// Guarantee: a client never holds all places, look-ups have places of their own, and a client whose
// questions keep timing out goes last (contract 1.5).

const seconds = 1000
const byKey = { size: 'byKey' } as const
const lookUp = { size: 'lookUp' } as const

await t.test('large queries of all clients leave one place to small ones', async (t) => {
  for (const slots of [1, 2]) {
    const turns = new NamedTurns(slots, 20)
    const asked = turns.askLarge('a1', 'a2', 'b1', 'c1')
    asked.push(turns.ask('d1'))
    await settled()
    t.strictSame(turns.running, ['a1', 'd1'], `${slots} at once`)
    asked.push(turns.ask('a3'))
    await turns.end('d1')
    t.strictSame(turns.running, ['a1', 'a3'], 'a small one passes large ones of its own client')
    await turns.endAll()
    await Promise.all(asked)
  }
})

await t.test('a client alone never holds the last place for large queries', async (t) => {
  const turns = new NamedTurns(4, 20)
  const asked = turns.askLarge('a1', 'a2', 'a3', 'a4')
  await settled()
  t.strictSame(turns.running, ['a1', 'a2'])
  asked.push(...turns.askLarge('b1', 'c1'))
  await settled()
  t.strictSame(turns.running, ['a1', 'a2', 'b1'])
  await turns.end('a1')
  t.strictSame(turns.running, ['a2', 'b1', 'a3'], 'its turn comes first')
  await turns.endAll()
  await Promise.all(asked)
})

await t.test('look-ups of one client fill every idle place', async (t) => {
  const turns = new NamedTurns(3, 20)
  const asked = ['a1', 'a2', 'a3', 'a4'].map((name) => turns.ask(name, byKey))
  await settled()
  t.strictSame(turns.running, ['a1', 'a2', 'a3'])
  await turns.endAll()
  await Promise.all(asked)
})

await t.test('look-ups have places beside all others', async (t) => {
  const turns = new NamedTurns(2, 20)
  const asked = [...turns.askLarge('a1', 'a2'), turns.ask('a3'), turns.ask('a4')]
  asked.push(...['b1', 'b2', 'b3'].map((name) => turns.ask(name, lookUp)))
  await settled()
  t.strictSame(turns.running, ['a1', 'a3', 'b1', 'b2'])
  await turns.end('b1')
  t.strictSame(turns.running, ['a1', 'a3', 'b2', 'b3'])
  await turns.end('a3')
  t.strictSame(turns.running, ['a1', 'b2', 'b3', 'a4'])
  await turns.endAll()
  await Promise.all(asked)
})

await t.test('a query that turns out large leaves its place to small ones', async (t) => {
  const turns = new NamedTurns(2, 20)
  const asked = [...turns.askLarge('a1'), turns.ask('b1'), turns.ask('c1')]
  await settled()
  t.strictSame(turns.running, ['a1', 'b1'])
  turns.grow('b1')
  await settled()
  t.strictSame(turns.running, ['a1', 'c1'])
  await turns.end('a1')
  t.strictSame(turns.running, ['c1', 'b1'], 'it goes on where it was')
  turns.grow('b1')
  await settled()
  t.strictSame(turns.running, ['c1', 'b1'], 'and is large already')
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a1', 'b1', 'c1'])
})

await t.test('a query that turns out large after its caller left takes no place', async (t) => {
  const turns = new NamedTurns(1, 20)
  const caller = new AbortController()
  turns.isStubborn = true
  const asked = turns.askLarge('a1')
  const left = turns.ask('b1', { signal: caller.signal }).catch((cause: unknown) => cause)
  await settled()
  t.strictSame(turns.running, ['a1', 'b1'])
  caller.abort(new Error('left'))
  turns.grow('b1')
  await settled()
  t.ok(turns.refusedToGrow.has('b1'), 'it does not wait')
  t.match(await left, { message: 'left' })
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a1', 'b1'])
})

await t.test('work by key that takes long gives way to others, and runs as large', async (t) => {
  const turns = new NamedTurns(1, 20)
  const asked = [...turns.askLarge('a1'), turns.ask('b1', byKey)]
  await turns.pass(10 * seconds)
  t.strictSame(turns.running, ['a1', 'b1'], 'it may go on while nothing waits')
  asked.push(turns.ask('c0'))
  await turns.pass(30)
  t.strictSame(turns.running, ['a1', 'b1', 'c0'], 'or what waits has other places')
  await turns.end('c0')
  asked.push(turns.ask('c1', lookUp))
  await turns.pass(30)
  t.strictSame(turns.running, ['a1', 'c1'])
  await turns.end('a1')
  t.strictSame(turns.running, ['c1', 'b1'])
  await turns.endAll()
  t.strictSame(await Promise.all(asked), ['a1', 'b1', 'c0', 'c1'], 'its caller notices nothing')
  t.strictSame(turns.started, ['a1', 'b1', 'c0', 'c1', 'b1'])
})

await t.test('work by key keeps its place where there is one for large work', async (t) => {
  const turns = new NamedTurns(1, 20)
  const asked = [turns.ask('b1', byKey), turns.ask('c1', lookUp)]
  await turns.pass(240)
  t.strictSame(turns.running, ['b1'])
  await turns.pass(30)
  t.strictSame(turns.running, ['b1', 'c1'])
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['b1', 'c1'])
})

await t.test('a client whose work by key often takes long has it run as large', async (t) => {
  const turns = new NamedTurns(1, 20)
  const asked = [turns.ask('a1', { size: 'large', timeLimit: timeLimit(1000 * seconds) })]
  for (const count of [1, 2, 3]) {
    asked.push(turns.ask(`b${count}`, byKey), turns.ask(`c${count}`, lookUp))
    await turns.pass(300)
    t.strictSame(turns.running, ['a1', `c${count}`])
    await turns.end(`c${count}`)
  }
  asked.push(turns.ask('b4', byKey), turns.ask('d1', byKey))
  await settled()
  t.strictSame(turns.running, ['a1', 'd1'], 'another client is believed')
  await turns.end('d1')
  await turns.pass(60 * seconds)
  asked.push(turns.ask('b5', byKey))
  await settled()
  t.strictSame(turns.running, ['a1', 'b5'], 'and the first one is again, later')
  await turns.endAll()
  await Promise.all(asked)
})

await t.test('a client whose large queries run in vain goes last, for some time', async (t) => {
  const turns = new NamedTurns(1, 20)
  const order = async (...names: string[]) => {
    turns.started.length = 0
    const asked = turns.askLarge(...names)
    await turns.endAll()
    await Promise.all(asked)
    return [...turns.started]
  }
  await turns.waste('a0', 14 * seconds)
  t.strictSame(await order('x1', 'a1', 'b1', 'b2'), ['x1', 'a1', 'b1', 'b2'], 'not for one')
  await turns.waste('a0', 14 * seconds)
  t.strictSame(await order('x1', 'a1', 'b1', 'b2'), ['x1', 'b1', 'b2', 'a1'])
  t.strictSame(await order('a1', 'a2'), ['a1', 'a2'], 'an idle place is free to all')
  await turns.pass(60 * seconds)
  t.strictSame(await order('x1', 'a1', 'b1', 'b2'), ['x1', 'a1', 'b1', 'b2'], 'it recovers')
})

await t.test('the look-ups of such a client keep their turn', async (t) => {
  const turns = new NamedTurns(1, 20)
  await turns.waste('a0', 60 * seconds)
  const asked = ['x1', 'a1', 'b1', 'b2'].map((name) => turns.ask(name))
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a0', 'x1', 'a1', 'b1', 'b2'])
})

await t.test('the time limit counts what runs, over all queries of a request', async (t) => {
  const turns = new NamedTurns(1, 20)
  const limit = timeLimit(10 * seconds)
  const first = turns.ask('a1', { size: 'large' })
  const second = turns.ask('b1', { size: 'large', timeLimit: limit })
  await turns.pass(9 * seconds)
  await turns.end('a1')
  await turns.pass(6 * seconds)
  t.strictSame(turns.running, ['b1'], 'more than ten seconds after it was asked')
  await turns.end('b1')
  t.same(limit, { totalMs: 10_000, leftMs: 4000, waitedMs: 9000 })
  const third = t.rejects(turns.ask('b2', { timeLimit: limit }), {
    code: 'timeout',
    detail: /did not finish in 10 s/,
  })
  await turns.pass(4 * seconds)
  await third
  await Promise.all([first, second])
})

await t.test('a wait lasts until the longest running query must have ended', async (t) => {
  const turns = new NamedTurns(1, 20, 30 * seconds)
  const timeout = { code: 'timeout' }
  const long = { size: 'large', timeLimit: timeLimit(100 * seconds) } as const
  const first = t.rejects(turns.ask('a1', long), timeout)
  const second = turns.ask('b1', { size: 'large', timeLimit: timeLimit(10 * seconds) })
  await turns.pass(99 * seconds)
  t.strictSame(turns.running, ['a1'])
  await turns.pass(1 * seconds)
  await first
  t.strictSame(turns.running, ['b1'])
  await turns.end('b1')
  t.equal(await second, 'b1')
})

for (const { waitMaxMs, expectedMs } of [
  { waitMaxMs: 60 * seconds, expectedMs: 22 * seconds },
  { waitMaxMs: 15 * seconds, expectedMs: 15 * seconds },
]) {
  await t.test(`of at most ${waitMaxMs} ms a wait may last ${expectedMs}`, async (t) => {
    const turns = new NamedTurns(1, 20, waitMaxMs)
    const ask = (name: string) =>
      turns.ask(name, { size: 'large', timeLimit: timeLimit(10 * seconds) })
    // It does not stop when it has to.
    turns.isStubborn = true
    const asked = Promise.allSettled([ask('a1'), ask('b1'), ask('b2')])
    let refusedAtMs: number | undefined
    const refused = t.rejects(ask('c1'), { code: 'service_unavailable' }).then(() => {
      refusedAtMs = turns.clock.monotonicMs()
    })
    await turns.pass(expectedMs - 10)
    t.equal(refusedAtMs, undefined, 'two must end before it, and each may take a second to stop')
    await turns.pass(10)
    await refused
    t.equal(refusedAtMs, expectedMs)
    await turns.endAll()
    await asked
  })
}

await t.test('Retry-After says when a place is likely to be free', async (t) => {
  const turns = new NamedTurns(1, 2)
  const refused = async (name: string, retryAfterSeconds: number, size: QuerySize = 'large') => {
    const code = 'service_unavailable'
    await t.rejects(turns.ask(name, { size }), { code, retryAfterSeconds }, name)
  }
  const first = turns.ask('a1', { size: 'large', timeLimit: timeLimit(40 * seconds) })
  const waiting = [...turns.askLarge('b1'), ...turns.askLarge('c1')]
  await refused('d1', 3)
  await turns.pass(10 * seconds)
  await refused('d2', 32)
  const small = turns.ask('e1')
  await refused('d3', 1, 'small')
  await turns.endAll()
  await Promise.all([first, small, ...waiting])
  const again = turns.askLarge('a2', 'b2', 'c2')
  await settled()
  await refused('d4', 6)
  await turns.endAll()
  await Promise.all(again)
})
