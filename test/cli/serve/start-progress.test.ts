import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { startProgress } from '../../../src/cli/serve/start-progress.js'

const never = 2 ** 31 - 1

await t.test('a slow start says how many datasets are open, until its end', async (t) => {
  const lines: object[] = []
  const output = new PassThrough({ encoding: 'utf8' })
  const logger = {
    info: (facts: object) => {
      lines.push(facts)
    },
  }
  const progress = startProgress({ logger, output, silenceMs: 1, everyMs: 1 })
  t.teardown(progress.end)
  progress.report(0, 1200)
  t.match(await once(output, 'data'), ['opening datasets: 0 of 1200\n'])
  progress.report(240, 1200)
  for (;;) {
    const [text] = (await once(output, 'data')) as [string]
    if (text === 'opening datasets: 240 of 1200\n') break
    t.equal(text, 'opening datasets: 0 of 1200\n')
  }
  progress.end()
  t.same(lines[0], { opened: 0, datasets: 1200 })
  t.same(lines.at(-1), { opened: 240, datasets: 1200 })
})

await t.test('a quick start says nothing', (t) => {
  const output = { write: () => t.fail('it said something') }
  const logger = { info: output.write }
  const progress = startProgress({ logger, output, silenceMs: never, everyMs: never })
  progress.report(1, 1)
  progress.end()
  t.end()
})
