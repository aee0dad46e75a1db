import t from 'tap'
import { splitMemory } from '../../src/engine/duckdb/split-memory.js'

await t.test('400 MB of a limit are not given away, a quarter of a small one', (t) => {
  const shares = (limitBytes: number) => {
    const { soloBytes, laneBytes, textsBytes, sharedBytes } = splitMemory(limitBytes)
    return [soloBytes, laneBytes, textsBytes, sharedBytes]
  }
  t.same(shares(4_400_000_000), [5e8, 625e6, 375e6, 25e8])
  t.same(shares(1_600_000_000), [15e7, 187_500_000, 112_500_000, 75e7])
  t.same(shares(64_000_000), [6e6, 75e5, 45e5, 3e7])
  t.end()
})

await t.test('shares are whole bytes, and no more than may be given away', (t) => {
  for (const limit of [64_000_000, 99_999_999, 1_600_000_001, 15_160_938_499]) {
    const shares = Object.values(splitMemory(limit))
    t.ok(shares.every(Number.isInteger), `${limit}`)
    const given = shares.reduce((sum, bytes) => sum + bytes, 0)
    t.ok(given <= limit - Math.min(limit / 4, 400e6), `${limit}`)
  }
  t.end()
})
