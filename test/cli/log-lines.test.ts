import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { logLines } from '../../src/cli/log-lines.js'

// Guarantee: every line is written once, in order; the lines of one turn are written together.

function collect() {
  const written: string[] = []
  const lines = logLines({ write: (text: string) => written.push(text) > 0 })
  return { written, lines }
}

await t.test('the lines of one turn of the event loop are one write', async (t) => {
  const { written, lines } = collect()
  lines.write('one\n')
  lines.write('two\n')
  t.same(written, [])
  await setImmediate()
  t.same(written, ['one\ntwo\n'])
  lines.write('three\n')
  await setImmediate()
  t.same(written, ['one\ntwo\n', 'three\n'])
})

await t.test('a flush writes what waits, once', async (t) => {
  const { written, lines } = collect()
  lines.flush()
  lines.write('one\n')
  lines.flush()
  lines.write('two\n')
  lines.flush()
  await setImmediate()
  t.same(written, ['one\n', 'two\n'])
})
