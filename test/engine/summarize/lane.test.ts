import t from 'tap'
import { SummaryLane } from '../../../src/engine/duckdb/summarize/lane.js'
import { Turns } from '../../../src/engine/duckdb/turns/turns.js'
import { never } from '../fixtures/open-engine.js'

// Guarantee: summaries take all cores only while nobody looks anything up.

const options = {
  folders: [],
  tempFolder: null,
  memoryLimitBytes: 256 * 1024 ** 2,
  threads: 4,
  slots: 4,
  queueMax: 10,
  waitMaxMs: 1000,
}
const asked = { signal: never, client: 'a' }

await t.test('the cores of a summary', async (t) => {
  let now = 0
  const lookUps = new Turns(options, () => now)
  const lane = new SummaryLane(options, lookUps)
  t.teardown(() => lane.serving.close())

  const current = () =>
    lane.serving.run(async (session) => {
      await lane.shareCores((statement) => session.runOnce(statement, never))
      const sql = "SELECT current_setting('threads')"
      return Number((await session.runOnce({ sql }, never))[0]?.[0])
    })
  const threads = (client = 'a') => lane.turns.run({ ...asked, client }, 'large', current)

  t.equal(await threads(), 4, 'nothing else was asked')
  await lookUps.run(asked, 'small', async () => t.equal(await threads(), 2, 'beside a look-up'))
  now += 999
  t.equal(await threads(), 2, 'more look-ups may come')
  now += 1
  t.equal(await threads(), 4, 'none came for a second')

  await lane.turns.run(asked, 'large', async () => {
    await lookUps.run(asked, 'small', async () =>
      t.equal(await threads('b'), 4, 'other work keeps its threads until it ends'),
    )
  })
})
