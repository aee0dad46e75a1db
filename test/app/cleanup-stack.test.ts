import t from 'tap'
import { CleanupStack } from '../../src/app/cleanup-stack.js'

await t.test(
  'a cleanup stack closes in reverse order, once, also when a close fails',
  async (t) => {
    const cleanup = new CleanupStack()
    const closed: string[] = []
    const broken = new Error('b is stuck')
    t.equal(
      cleanup.adopt('a', (name) => closed.push(name)),
      'a',
    )
    cleanup.adopt('b', () => {
      throw broken
    })
    cleanup.adopt('c', async (name) => {
      await Promise.resolve()
      closed.push(name)
    })
    const first = cleanup.close()
    await t.rejects(first, broken)
    await t.rejects(cleanup.close(), broken)
    t.same(closed, ['c', 'a'])
  },
)
