import t from 'tap'
import { CleanupStack } from '../../src/app/cleanup-stack.js'

await t.test('what was opened is closed in reverse, once, whatever fails', async (t) => {
  const closers = new CleanupStack()
  const closed: string[] = []
  const broken = new Error('b is stuck')
  t.equal(
    closers.add('a', (name) => closed.push(name)),
    'a',
  )
  closers.add('b', () => {
    throw broken
  })
  closers.add('c', async (name) => {
    await Promise.resolve()
    closed.push(name)
  })
  const first = closers.close()
  await t.rejects(first, broken)
  await t.rejects(closers.close(), broken)
  t.same(closed, ['c', 'a'])
})
