import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { LogOutput } from '../../src/cli/log-output.js'

await t.test('lines of one turn are one write; a fatal line does not wait', async (t) => {
  const written: string[] = []
  const output = new LogOutput({ write: (text) => written.push(text) })
  const logger = pino({ base: null, timestamp: false }, output)
  const expected = (...names: readonly string[]) =>
    names.map((msg) => `${JSON.stringify({ level: msg === 'fatal' ? 60 : 30, msg })}\n`).join('')
  logger.info('a')
  logger.info('b')
  t.same(written, [])
  await nextTurn()
  t.same(written.splice(0), [expected('a', 'b')])
  logger.info('c')
  logger.fatal('fatal')
  t.same(written.splice(0), [expected('c', 'fatal')])
  await nextTurn()
  t.same(written, [], 'and not once more')
  logger.info('d')
  output.flushSync()
  t.same(written, [expected('d')])
})
