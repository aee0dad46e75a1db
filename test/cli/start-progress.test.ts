import t from 'tap'
import { startProgress } from '../../src/cli/serve-command.js'
import { MovingClock } from '../support/moving-clock.js'

function observe() {
  const clock = new MovingClock(0)
  const [texts, lines]: [string[], object[]] = [[], []]
  const progress = startProgress({
    output: { write: (text: string) => texts.push(text) },
    logger: { info: (facts: object) => lines.push(facts) },
    clock,
  })
  return { clock, progress, texts, lines }
}

await t.test('a slow start says how many datasets are open, until its end', async (t) => {
  const { clock, progress, texts, lines } = observe()
  progress.report(0, 1200)
  await clock.advance(2000)
  progress.report(240, 1200)
  await clock.advance(9999)
  progress.end()
  await clock.advance(60_000)
  t.same(texts, ['opening datasets: 0 of 1200\n', 'opening datasets: 240 of 1200\n'])
  t.same(lines, [
    { opened: 0, datasets: 1200 },
    { opened: 240, datasets: 1200 },
  ])
  t.equal(clock.waiting, 0)
})

await t.test('a quick start prints no progress', async (t) => {
  const { clock, progress, texts, lines } = observe()
  progress.report(1, 1)
  await clock.advance(1999)
  progress.end()
  await clock.advance(60_000)
  t.same([texts, lines], [[], []])
})
