import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { OneAtATime } from '../src/one-at-a-time.js'

await t.test('pieces of work run one after another, also after one that failed', async (t) => {
  const queue = new OneAtATime()
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await setImmediate()
    seen.push(`${name} ends`)
    if (name === 'a') throw new Error('a is broken')
    return name
  }
  const [first, second] = [queue.run(work('a')), queue.run(work('b'))]
  await t.rejects(first, { message: 'a is broken' })
  t.equal(await second, 'b')
  t.same(seen, ['a begins', 'a ends', 'b begins', 'b ends'])
})
