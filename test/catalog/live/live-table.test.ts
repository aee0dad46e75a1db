import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { makeCatalogFolder, versionOf } from './fixtures/catalog-folder.js'
import { machineClock } from '../../../src/clock.js'

const dayMs = 24 * 3_600_000
const pollMs = 30_000
const registry = `
datasets:
  things:
    title: Things
    engine: {trino: 'http://127.0.0.1:1'}
    table: hive.das.things
    key: id
`

await t.test('a table is read once a pause, also after the clock was set back', async (t) => {
  const clock = { ms: 100 * dayMs }
  const read = { count: 0 }
  const fixture = await makeCatalogFolder(t, { registry })
  const live = await fixture.live({
    clock: { ...machineClock, now: () => clock.ms },
    tables: {
      // As a cluster answers: `test/scale/trino.test.ts` has a real one.
      openTable: async () => {
        read.count += 1
        return {
          rows: read.count,
          columns: [{ name: 'id', type: { kind: 'scalar', name: 'BIGINT' }, required: false }],
          bounds: new Map([['id', { min: '1', max: String(read.count) }]]),
          state: `state ${read.count}`,
          modifiedMs: clock.ms,
        }
      },
      pollMs,
      onChange: () => undefined,
      signal: new AbortController().signal,
    },
  })
  /** The rows that are served when the updates of a moment are over. */
  const rowsAfter = async (ms: number) => {
    clock.ms += ms
    for (let update = 0; update < 5; update++) {
      await live.update()
      await sleep(5)
    }
    return versionOf(live.serving.catalog).rows
  }
  t.equal(await rowsAfter(0), 1)
  t.equal(await rowsAfter(pollMs - 1), 1)
  t.equal(await rowsAfter(1), 2)
  t.equal(await rowsAfter(-dayMs), 3, 'at once: nobody knows how long ago it was read')
  t.equal(await rowsAfter(pollMs - 1), 3)
  t.equal(await rowsAfter(1), 4)
})
