import t from 'tap'
import { answerCache, keptAnswer } from '../../src/service/paid/kept-answers.js'
import type { Keepable } from '../../src/service/paid/kept-answers.js'

function answerOf(bytes: number) {
  return { rows: [Buffer.alloc(bytes)] }
}

/** A cache whose answers are made by their tests. */
function open<Answer extends Keepable>() {
  const cache = answerCache<Answer>()
  return (key: string, make: () => Promise<Answer>) => keptAnswer(cache, key, make)
}

await t.test('a small answer is made once', async (t) => {
  const kept = open()
  const first = await kept('a', async () => answerOf(10))
  t.equal(await kept('a', () => Promise.reject(new Error('made again'))), first)
  t.not(await kept('b', async () => answerOf(10)), first)
})

await t.test(
  'a kept answer holds its bytes alone, not the larger buffer they came in',
  async (t) => {
    const kept = open<{ rows: (Buffer | { encoded: Buffer; position: number })[] }>()
    const large = Buffer.from('..ab{}cd..')
    const made = { rows: [large.subarray(2, 4), { encoded: large.subarray(6, 8), position: 7 }] }
    const { rows } = await kept('a', async () => made)
    t.same(rows, [Buffer.from('ab'), { encoded: Buffer.from('cd'), position: 7 }])
    const buffers = rows.map((row) => (Buffer.isBuffer(row) ? row : row.encoded).buffer)
    t.equal(buffers[0]?.byteLength, 4)
    t.equal(buffers[1], buffers[0], 'one buffer for all rows')
  },
)

await t.test('a large answer and a failure are not kept', async (t) => {
  const kept = open()
  let made = 0
  for (let asked = 0; asked < 2; asked++) {
    await kept('rows', async () => {
      made++
      return answerOf(200_001)
    })
    await kept('file', async () => {
      made++
      return { rows: [], file: Buffer.alloc(200_001) }
    })
  }
  t.equal(made, 4)
  await t.rejects(kept('c', () => Promise.reject(new Error('failed'))))
  t.same(await kept('c', async () => answerOf(0)), answerOf(0))
})

await t.test('the answer that was not asked for the longest time leaves first', async (t) => {
  const kept = open()
  const made: string[] = []
  const ask = (key: string) =>
    kept(key, async () => {
      made.push(key)
      return answerOf(180_000)
    })
  for (let at = 0; at < 35; at++) await ask(String(at))
  await ask('0')
  for (let at = 35; at < 60; at++) await ask(String(at))
  made.length = 0
  for (const key of ['59', '40', '0', '1']) await ask(key)
  t.same(made, ['1'])
})
