import t from 'tap'
import { Hook } from '../../src/app/hook.js'

await t.test('a hook does nothing before a part is connected, and then calls it', (t) => {
  const hook = new Hook<string>(() => 'nothing')
  const { call } = hook
  t.equal(call(), 'nothing')
  hook.connect(() => 'done')
  t.equal(call(), 'done')
  t.end()
})
