import { setMaxListeners } from 'node:events'
import fc from 'fast-check'
import t from 'tap'
import { Turns } from '../../src/engine/duckdb/turns.js'

// Guarantee: no more queries run at once than there are places, and one busy client can fill idle
// places but never starve another (contract 1.5).

const never = new AbortController().signal
setMaxListeners(0, never)

/** Work that a test starts and ends by name, and in which order it began. */
class Desk {
  readonly started: string[] = []
  readonly #ends = new Map<string, () => void>()
  readonly #turns: Turns

  constructor(slots: number, queueMax: number, waitMaxMs = 60_000) {
    this.#turns = new Turns({ slots, queueMax, waitMaxMs })
  }

  /** `a1` is the first request of client a. */
  ask(name: string, signal = never): Promise<string> {
    return this.#turns.run(name.replace(/\d+$/, ''), signal, () => {
      this.started.push(name)
      return new Promise((resolve) => this.#ends.set(name, () => resolve(name)))
    })
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.()
    this.#ends.delete(name)
    await settled()
  }

  /** Ends what runs, one after another, until nothing does. */
  async endAll(): Promise<void> {
    for (let [name] = this.#ends.keys(); name !== undefined; [name] = this.#ends.keys()) {
      await this.end(name)
    }
  }

  get running(): readonly string[] {
    return [...this.#ends.keys()]
  }
}

/** Every promise that can go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const busy = { code: 'service_unavailable', retryAfterSeconds: 1 }

await t.test('places are filled at once, and no more than there are', async (t) => {
  const desk = new Desk(2, 10)
  const asked = ['a1', 'a2', 'a3'].map((name) => desk.ask(name))
  await settled()
  t.strictSame(desk.running, ['a1', 'a2'])
  await desk.end('a1')
  t.strictSame(desk.running, ['a2', 'a3'])
  await desk.endAll()
  t.strictSame(await Promise.all(asked), ['a1', 'a2', 'a3'])
})

await t.test('clients take turns, so many requests of one delay another by one', async (t) => {
  const desk = new Desk(1, 20)
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']
  const asked = names.map((name) => desk.ask(name))
  await desk.endAll()
  await Promise.all(asked)
  t.strictSame(desk.started, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

await t.test('a client that was just served goes behind those who wait', async (t) => {
  const desk = new Desk(1, 20)
  const asked = ['a1', 'a2', 'b1'].map((name) => desk.ask(name))
  await settled()
  await desk.end('a1')
  t.strictSame(desk.running, ['a2'])
  asked.push(desk.ask('a3'), desk.ask('c1'))
  await desk.endAll()
  await Promise.all(asked)
  t.strictSame(desk.started, ['a1', 'a2', 'b1', 'a3', 'c1'])
})

await t.test('when the queue is full, the longest queue loses its last request', async (t) => {
  const desk = new Desk(1, 3)
  const asked = ['a1', 'a2', 'a3'].map((name) => desk.ask(name))
  const shed = t.rejects(desk.ask('a4'), busy)
  asked.push(desk.ask('b1'))
  await shed
  await desk.endAll()
  await Promise.all(asked)
  t.strictSame(desk.started, ['a1', 'a2', 'b1', 'a3'])
})

await t.test('whoever has the longest queue is refused, not somebody else', async (t) => {
  const desk = new Desk(1, 3)
  const asked = ['a1', 'a2'].map((name) => desk.ask(name))
  const shed = t.rejects(desk.ask('a3'), busy)
  asked.push(desk.ask('b1'))
  await t.rejects(desk.ask('a4'), busy, 'the busy one gains nothing')
  await t.rejects(desk.ask('b2'), busy, 'as long as the longest with it')
  asked.push(desk.ask('c1'))
  await shed
  await desk.endAll()
  await Promise.all(asked)
  t.strictSame(desk.started, ['a1', 'a2', 'b1', 'c1'])
})

await t.test('without a queue, whoever finds no place is refused', async (t) => {
  const desk = new Desk(1, 0)
  const asked = desk.ask('a1')
  await t.rejects(desk.ask('a2'), busy)
  await t.rejects(desk.ask('b1'), busy)
  await desk.endAll()
  t.equal(await asked, 'a1')
  const next = desk.ask('b2')
  await desk.endAll()
  t.equal(await next, 'b2')
})

await t.test('an abort in the queue frees the place in it and never starts the work', async (t) => {
  const desk = new Desk(1, 1)
  const caller = new AbortController()
  const asked = [desk.ask('a1')]
  const gone = new Error('gone')
  const left = t.rejects(desk.ask('b1', caller.signal), gone)
  caller.abort(gone)
  await left
  asked.push(desk.ask('c1'))
  await t.rejects(desk.ask('d1', AbortSignal.abort(gone)), gone)
  await desk.endAll()
  await Promise.all(asked)
  t.strictSame(desk.started, ['a1', 'c1'])
})

await t.test('a wait that takes too long is refused, and takes no place', async (t) => {
  const desk = new Desk(1, 1, 1)
  const first = desk.ask('a1')
  await t.rejects(desk.ask('b1'), busy)
  await desk.endAll()
  t.equal(await first, 'a1')
  const next = desk.ask('c1')
  await desk.endAll()
  t.equal(await next, 'c1')
  t.strictSame(desk.started, ['a1', 'c1'])
})

await t.test('work that fails gives its place back', async (t) => {
  const turns = new Turns({ slots: 1, queueMax: 1, waitMaxMs: 60_000 })
  const fail = (message: string) => () => Promise.reject(new Error(message))
  const first = t.rejects(turns.run('a', never, fail('one')), { message: 'one' })
  const second = t.rejects(turns.run('a', never, fail('two')), { message: 'two' })
  await Promise.all([first, second])
  t.equal(await turns.run('b', never, () => Promise.resolve('served')), 'served')
})

type Step =
  | { readonly kind: 'ask'; readonly client: string }
  | { readonly kind: 'end' | 'abort'; readonly pick: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('ask'), client: fc.constantFrom(...'abc') }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end'), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort'), pick: fc.nat() }) },
)

await t.test(
  'in any order of requests, ends and aborts, every promise of the queue holds',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 5 }),
        fc.array(step, { maxLength: 40 }),
        async (slots, queueMax, steps) => {
          const desk = new Desk(slots, queueMax)
          const outcomes = new Map<string, string>()
          const callers = new Map<string, AbortController>()
          const check = () => {
            const waiting = [...callers.keys()].filter((each) => !outcomes.has(each))
            const queued = waiting.filter((each) => !desk.running.includes(each))
            if (desk.running.length > slots) throw new Error('more at once than places')
            if (queued.length > queueMax) throw new Error('more wait than the queue holds')
            if (queued.length > 0 && desk.running.length < slots) throw new Error('an idle place')
          }
          for (const [index, each] of steps.entries()) {
            if (each.kind === 'ask') {
              const [name, caller] = [`${each.client}${index}`, new AbortController()]
              callers.set(name, caller)
              desk.ask(name, caller.signal).then(
                () => outcomes.set(name, 'served'),
                (cause: Error) => outcomes.set(name, cause.message),
              )
            } else if (each.kind === 'end') {
              await desk.end(desk.running[each.pick % slots] ?? '')
            } else {
              const waiting = [...callers].filter(([name]) => !outcomes.has(name))
              const [name, caller] = waiting[each.pick % Math.max(waiting.length, 1)] ?? []
              if (name !== undefined && !desk.running.includes(name)) {
                caller?.abort(new Error('gone'))
              }
            }
            await settled()
            check()
          }
          await desk.endAll()
          await settled()
          if (outcomes.size !== callers.size) throw new Error('a request without an outcome')
          if (new Set(desk.started).size !== desk.started.length) throw new Error('run twice')
          for (const [name, outcome] of outcomes) {
            const ran = desk.started.includes(name)
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
