import { join } from 'node:path'
import t from 'tap'
import { ServerLock } from '../../src/control/server-lock.js'

await t.test('one server at a time holds a state folder', (t) => {
  const path = join(t.testdir({}), 'state', 'server.lock')
  const first = ServerLock.take(path)
  t.throws(() => ServerLock.take(path), { message: /another server runs over/ })
  first.release()
  const second = ServerLock.take(path)
  second.release()
  t.end()
})
