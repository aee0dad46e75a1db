import t from 'tap'
import { column } from '../support/answers.js'
import { askBoth } from '../support/carriers.js'
import type { TestFilter } from '../support/carriers.js'
import { callTool } from '../support/mcp/mcp-messages.js'
import { startWorld } from '../support/world.js'

// Guarantee: Z where the type has a zone (contract 1.3), and a served value fed back finds its row.
// Parquet keeps times with a zone in UTC: pandas writes all of its times so.

await t.test('a time with a zone is served with Z, and finds its row', async (t) => {
  const world = await startWorld(t, {
    files: {
      'data/clocks.parquet': `SELECT id, clock::TIMETZ AS clock, [clock::TIMETZ] AS list
        FROM (VALUES (1, '12:30:00+00'), (2, '09:30:00.5+03'), (3, NULL), (4, '00:00:00+00'))
          v(id, clock)`,
    },
    registry: `
datasets:
  clocks:
    title: Clocks
    files: data/clocks.parquet
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0}}
`,
  })
  const { token } = await world.subscribe(['clocks:pro'])
  const served = ['12:30:00Z', '06:30:00.5Z', null, '00:00:00Z']
  const page = await world.get('/v1/clocks', token)
  t.same(column(page, 'clock'), served)
  t.same(column(page, 'list'), [['12:30:00Z'], ['06:30:00.5Z'], [null], ['00:00:00Z']])
  t.same(column(await world.get('/v1/clocks?select=clock', token), 'clock'), served)
  const csv = await world.get('/v1/clocks?select=clock&format=csv', token)
  t.same(csv.text.split('\r\n'), ['clock', '12:30:00Z', '06:30:00.5Z', '""', '00:00:00Z', ''])
  const asked = await callTool(world, token, 'query', { resource: 'clocks', select: ['clock'] })
  t.match(asked.content, { data: { clock: served } })
  const cases: readonly (readonly [TestFilter, readonly number[]])[] = [
    [['clock', 'eq', '12:30:00Z'], [1]],
    [
      ['clock', 'in', ['06:30:00.5Z', '00:00:00Z']],
      [2, 4],
    ],
    [
      ['clock', 'ne', '12:30:00Z'],
      [2, 4],
    ],
    [
      ['clock', 'isdistinct', '12:30:00Z'],
      [2, 3, 4],
    ],
    [['clock', 'like', '12:*'], [1]],
    [['clock', 'is_null'], [3]],
  ]
  for (const [filter, ids] of cases) {
    const answer = await askBoth(t, world, token, 'clocks', { filters: [filter], select: ['id'] })
    t.same(column(answer, 'id'), ids, filter.join())
  }
})
