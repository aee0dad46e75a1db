import t from 'tap'
import { splitMemory } from '../../src/engine/duckdb/split-memory.js'

await t.test('400 MB of a limit are not given away, a quarter of a small one', (t) => {
  t.same(splitMemory(4_400_000_000), { soloBytes: 1e9, sharedBytes: 3e9 })
  t.same(splitMemory(1_600_000_000), { soloBytes: 3e8, sharedBytes: 9e8 })
  t.same(splitMemory(64_000_000), { soloBytes: 12e6, sharedBytes: 36e6 })
  t.end()
})

await t.test('shares are whole bytes, and no more than may be given away', (t) => {
  for (const limit of [64_000_000, 99_999_999, 1_600_000_001, 15_160_938_499]) {
    const { soloBytes, sharedBytes } = splitMemory(limit)
    t.ok(Number.isInteger(soloBytes) && Number.isInteger(sharedBytes), `${limit}`)
    t.ok(soloBytes + sharedBytes <= limit - Math.min(limit / 4, 400e6), `${limit}`)
  }
  t.end()
})
