import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import t from 'tap'
import { pacedBody } from '../../src/http/paced-body.js'
import { MovingClock } from '../support/moving-clock.js'

const silenceMs = 300_000
const page = Buffer.alloc(100_000)

/** A body of these pages, and a client that takes a piece of it only when the test says so. */
function observe(pages: AsyncIterable<Buffer>, clock: MovingClock) {
  const held: (() => void)[] = []
  const client = new Writable({
    write: (_piece, _encoding, done) => {
      held.push(done)
    },
  })
  client.on('error', () => undefined)
  const silences: number[] = []
  const onSilence = () => silences.push(clock.monotonicMs())
  const response = client as Writable as ServerResponse
  pacedBody(pages, response, { clock, silenceMs, onSilence }).pipe(client)
  /** The client takes what was sent to it. */
  const take = async () => {
    const taken = held.splice(0)
    for (const done of taken) done()
    await clock.advance(0)
    return taken.length
  }
  return { client, silences, take }
}

async function* repeated(count: number): AsyncGenerator<Buffer> {
  for (let made = 0; made < count; made += 1) yield page
}

await t.test(
  'a client that reads nothing is disconnected after the limit, not earlier',
  async (t) => {
    const clock = new MovingClock(0)
    const { client, silences, take } = observe(repeated(10), clock)
    await clock.advance(0)
    t.ok(await take())
    await clock.advance(silenceMs - 1)
    t.notOk(client.destroyed)
    await clock.advance(1)
    t.ok(client.destroyed)
    t.same(silences, [silenceMs], 'reported once')
  },
)

await t.test('a slow client that reads on is not disconnected', async (t) => {
  const clock = new MovingClock(0)
  const { client, silences, take } = observe(repeated(10), clock)
  await clock.advance(0)
  for (let pieces = 0; pieces < 10; pieces += 1) {
    await clock.advance(silenceMs - 1)
    t.ok(await take())
  }
  t.notOk(client.destroyed)
  t.same(silences, [])
})

await t.test('the time that the server takes for a page is not silence', async (t) => {
  const clock = new MovingClock(0)
  async function* late(): AsyncGenerator<Buffer> {
    yield page
    await clock.sleep(10 * silenceMs)
    yield page
  }
  const { client, silences, take } = observe(late(), clock)
  const takeAll = async () => {
    while ((await take()) > 0);
  }
  await clock.advance(0)
  await takeAll()
  await clock.advance(10 * silenceMs)
  t.notOk(client.destroyed)
  await takeAll()
  t.ok(client.writableEnded, 'the whole body was sent')
  t.same(silences, [])
})
