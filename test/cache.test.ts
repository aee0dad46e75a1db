import t from 'tap'
import { Cache } from '../src/cache.js'

await t.test('a full cache drops what was used the longest time ago', async (t) => {
  const cache = new Cache<string>(6, (text) => text.length)
  const made: string[] = []
  const get = (name: string) =>
    cache.get(name, async () => {
      made.push(name)
      return 'abc'
    })
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await get(name)
  t.same(made, ['a', 'b', 'c', 'b'])
  t.same(cache.use, { hits: 2, misses: 4, bytes: 6 })
  t.equal(cache.isFull, true)
  cache.retain(['a', 'b'])
  t.equal(cache.isFull, true, 'nothing was dropped')
  cache.retain(['a'])
  t.equal(cache.isFull, false)
  await get('a')
  t.same(made, ['a', 'b', 'c', 'b'], 'what is retained is there')
})

await t.test('a value that is kept again takes the place of the earlier one', (t) => {
  const cache = new Cache<string>(2)
  cache.keep('a', 'one')
  cache.keep('a', 'two')
  cache.keep('b', 'three')
  t.equal(cache.find('a'), 'two')
  cache.keep('c', 'four')
  t.equal(cache.find('b'), undefined, 'used the longest time ago')
  t.equal(cache.use.bytes, 2)
  t.end()
})
