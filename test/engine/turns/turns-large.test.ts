import t from 'tap'
import { NamedTurns, settled } from '../fixtures/named-turns.js'

// Guarantee: turns for large queries only are all used, one by a client at a time (contract 6).

await t.test('a client holds one slot for large queries, and clients take turns', async (t) => {
  const turns = new NamedTurns(2, 10, 60_000, true)
  const asked = turns.askLarge('a1', 'a2', 'a3', 'b1', 'c1')
  await settled()
  t.strictSame(turns.running, ['a1', 'b1'])
  await turns.end('b1')
  t.strictSame(turns.running, ['a1', 'c1'])
  await turns.end('a1')
  t.strictSame(turns.running, ['c1', 'a2'])
  await turns.endAll()
  t.strictSame(turns.started, ['a1', 'b1', 'c1', 'a2', 'a3'])
  await Promise.all(asked)
})

await t.test('one slot runs one large query', async (t) => {
  const turns = new NamedTurns(1, 10, 60_000, true)
  const asked = turns.askLarge('a1', 'b1')
  await settled()
  t.strictSame(turns.running, ['a1'])
  await turns.endAll()
  await Promise.all(asked)
})
