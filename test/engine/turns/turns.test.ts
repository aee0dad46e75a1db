import fc from 'fast-check'
import t from 'tap'
import type { QuerySize } from '../../../src/engine/duckdb/turns/turn.js'
import { Turns } from '../../../src/engine/duckdb/turns/turns.js'
import { NamedTurns, never, settled } from '../fixtures/named-turns.js'
import { MovingClock } from '../../support/moving-clock.js'

// Guarantee: no more queries run at once than there are places, and one busy client can fill idle
// places but never starve another (contract 1.5).

const busy = { code: 'service_unavailable', retryAfterSeconds: 1 }

await t.test('places are filled at once, and no more than there are', async (t) => {
  const turns = new NamedTurns(2, 10)
  const asked = ['a1', 'a2', 'a3'].map((name) => turns.ask(name))
  await settled()
  t.strictSame(turns.running, ['a1', 'a2'])
  await turns.end('a1')
  t.strictSame(turns.running, ['a2', 'a3'])
  await turns.endAll()
  t.strictSame(await Promise.all(asked), ['a1', 'a2', 'a3'])
})

await t.test('clients take turns, so many requests of one delay another by one', async (t) => {
  const turns = new NamedTurns(1, 20)
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']
  const asked = names.map((name) => turns.ask(name))
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

await t.test('a client that was just served goes behind those who wait', async (t) => {
  const turns = new NamedTurns(1, 20)
  const asked = ['a1', 'a2', 'b1'].map((name) => turns.ask(name))
  await settled()
  await turns.end('a1')
  t.strictSame(turns.running, ['a2'])
  asked.push(turns.ask('a3'), turns.ask('c1'))
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a1', 'a2', 'b1', 'a3', 'c1'])
})

await t.test('when the queue is full, the longest queue loses its last request', async (t) => {
  const turns = new NamedTurns(1, 3)
  const asked = ['a1', 'a2', 'a3'].map((name) => turns.ask(name))
  const shed = t.rejects(turns.ask('a4'), busy)
  asked.push(turns.ask('b1'))
  await shed
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a1', 'a2', 'b1', 'a3'])
})

await t.test('the client with the longest queue is refused, not another one', async (t) => {
  const turns = new NamedTurns(1, 3)
  const asked = ['a1', 'a2'].map((name) => turns.ask(name))
  const shed = t.rejects(turns.ask('a3'), busy)
  asked.push(turns.ask('b1'))
  await t.rejects(turns.ask('a4'), busy, 'the busy one gains nothing')
  await t.rejects(turns.ask('b2'), busy, 'as long as the longest with it')
  asked.push(turns.ask('c1'))
  await shed
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a1', 'a2', 'b1', 'c1'])
})

await t.test('without a queue, a query that finds no place is refused', async (t) => {
  const turns = new NamedTurns(1, 0)
  const asked = turns.ask('a1')
  await t.rejects(turns.ask('a2'), busy)
  await t.rejects(turns.ask('b1'), busy)
  await turns.endAll()
  t.equal(await asked, 'a1')
  const next = turns.ask('b2')
  await turns.endAll()
  t.equal(await next, 'b2')
})

await t.test('an abort in the queue frees the place in it and never starts the work', async (t) => {
  const turns = new NamedTurns(1, 1)
  const caller = new AbortController()
  const asked = [turns.ask('a1')]
  const gone = new Error('gone')
  const left = t.rejects(turns.ask('b1', { signal: caller.signal }), gone)
  caller.abort(gone)
  await left
  asked.push(turns.ask('c1'))
  await t.rejects(turns.ask('d1', { signal: AbortSignal.abort(gone) }), gone)
  await turns.endAll()
  await Promise.all(asked)
  t.strictSame(turns.started, ['a1', 'c1'])
})

await t.test('a wait that takes too long is refused, and takes no place', async (t) => {
  const turns = new NamedTurns(1, 1, 1)
  const first = turns.ask('a1')
  const second = t.rejects(turns.ask('b1'), { code: 'service_unavailable' })
  await turns.pass(1000)
  await second
  await turns.endAll()
  t.equal(await first, 'a1')
  const next = turns.ask('c1')
  await turns.endAll()
  t.equal(await next, 'c1')
  t.strictSame(turns.started, ['a1', 'c1'])
})

await t.test('work that fails gives its place back', async (t) => {
  const turns = new Turns({ clock: new MovingClock(0), slots: 1, queueMax: 1, waitMaxMs: 60_000 })
  const run = <T>(client: string, work: () => Promise<T>) =>
    turns.run({ client, signal: never }, 'small', work)
  const fail = (message: string) => () => Promise.reject(new Error(message))
  const first = t.rejects(run('a', fail('one')), { message: 'one' })
  const second = t.rejects(run('a', fail('two')), { message: 'two' })
  await Promise.all([first, second])
  t.equal(await run('b', () => Promise.resolve('served')), 'served')
})

type Step =
  | { readonly kind: 'ask'; readonly client: string; readonly size: QuerySize }
  | { readonly kind: 'end' | 'abort' | 'grow'; readonly pick: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ask'),
      client: fc.constantFrom(...'abc'),
      size: fc.constantFrom<QuerySize>('lookUp', 'byKey', 'small', 'large'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end'), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort'), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('grow'), pick: fc.nat() }) },
)

/** Whether as many run as may, of each size and of each client. */
function checkPlaces(slots: number, turns: NamedTurns, queued: readonly string[]): void {
  const { running } = turns
  const isKeyed = (name: string) => ['lookUp', 'byKey'].includes(turns.sizes.get(name) ?? '')
  const keyed = running.filter(isKeyed).length
  const others = running.length - keyed
  const large = running.filter((name) => turns.sizes.get(name) === 'large')
  const largeMax = Math.max(slots - 1, 1)
  const ownMax = Math.max(largeMax - 1, 1)
  const ownOf = (name: string) => large.filter((each) => each[0] === name[0]).length
  if (keyed > slots) throw new Error('more by key than places')
  if (others > Math.max(slots, 2)) throw new Error('more at once than places')
  if (others - large.length > slots) throw new Error('more small ones than places')
  if (large.length > largeMax) throw new Error('large ones leave no place')
  if (large.some((name) => ownOf(name) > ownMax)) throw new Error('one client holds all')
  const mayStart = (name: string) =>
    turns.sizes.get(name) === 'large'
      ? large.length < largeMax && ownOf(name) < ownMax
      : others - large.length < slots
  if (keyed < slots && queued.some(isKeyed)) throw new Error('an idle place by key')
  const rest = queued.filter((name) => !isKeyed(name))
  if (others < Math.max(slots, 2) && rest.some(mayStart)) throw new Error('an idle place')
}

await t.test(
  'in any order of requests, ends and aborts, every promise of the queue holds',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 5 }),
        fc.array(step, { maxLength: 40 }),
        async (slots, queueMax, steps) => {
          const turns = new NamedTurns(slots, queueMax)
          const outcomes = new Map<string, string>()
          const callers = new Map<string, AbortController>()
          const take = async (index: number, each: Step) => {
            if (each.kind === 'ask') {
              const [name, caller] = [`${each.client}${index}`, new AbortController()]
              callers.set(name, caller)
              turns.ask(name, { size: each.size, signal: caller.signal }).then(
                () => outcomes.set(name, 'served'),
                (cause: Error) => outcomes.set(name, cause.message),
              )
              return
            }
            const running = turns.running[each.pick % Math.max(turns.running.length, 1)] ?? ''
            if (each.kind === 'end') await turns.end(running)
            if (each.kind === 'grow') turns.grow(running)
            const waiting = [...callers].filter(([name]) => !outcomes.has(name))
            const [name, caller] = waiting[each.pick % Math.max(waiting.length, 1)] ?? []
            if (each.kind === 'abort' && name !== undefined && !turns.running.includes(name)) {
              caller?.abort(new Error('gone'))
            }
          }
          for (const [index, each] of steps.entries()) {
            await take(index, each)
            await settled()
            const waiting = [...callers.keys()].filter((name) => !outcomes.has(name))
            const queued = waiting.filter((name) => !turns.running.includes(name))
            if (queued.length > queueMax) throw new Error('more wait than the queue holds')
            checkPlaces(slots, turns, queued)
          }
          await turns.endAll()
          await settled()
          if (outcomes.size !== callers.size) throw new Error('a request without an outcome')
          if (new Set(turns.started).size !== turns.started.length) throw new Error('run twice')
          for (const [name, outcome] of outcomes) {
            const ran = turns.started.includes(name) && !turns.refusedToGrow.has(name)
            if (ran !== (outcome === 'served')) {
              throw new Error(`${name} ran: ${ran}, but ${outcome}`)
            }
          }
        },
      ),
      { numRuns: 200 },
    )
    t.pass()
  },
)
