import t from 'tap'
import { insertInto, sql, sqlList, sqlText, upsertInto } from '../../../src/control/store/sql.js'
import { openStore } from '../fixtures/store.js'

// Guarantee: no value of a caller becomes a part of a statement's text.
await t.test('values are bound, whatever they hold, also in parts of a statement', async (t) => {
  const store = openStore(t)
  const hostile = `' OR 1 = 1; -- ? $1 @id \${id}`
  const isHostile = sql`email = ${hostile}`
  const { texts, values } = sql`SELECT 1 FROM subscribers WHERE ${isHostile} AND id > ${0}`
  t.same(texts, ['SELECT 1 FROM subscribers WHERE email = ', ' AND id > ', ''])
  t.same(values, [hostile, 0])
  await store.run(insertInto('subscribers', { email: hostile, created_at: 1 }))
  t.same(await store.all(sql`SELECT email FROM subscribers WHERE ${isHostile}`), [
    { email: hostile },
  ])
})

await t.test('parts are joined in their order, and bytes and null are values', (t) => {
  const bytes = Buffer.from('ab')
  const part = sql`a = ${bytes} OR b IN (${sqlList([1, 2, 3])})`
  t.same(sql`${part} OR (${part}) ${sqlText('LIMIT 1')} ${null}`, {
    texts: [
      ...['a = ', ' OR b IN (', ', ', ', ', ') OR (a = ', ' OR b IN (', ', ', ', ', ')) LIMIT 1 '],
      '',
    ],
    values: [bytes, 1, 2, 3, bytes, 1, 2, 3, null],
  })
  t.same(sql`SELECT 1`, { texts: ['SELECT 1'], values: [] })
  t.end()
})

await t.test('a row is added, or gets other values', (t) => {
  t.same(insertInto('t', { a: 1, b: 'x' }), {
    texts: ['INSERT INTO t (a, b) VALUES (', ', ', ')'],
    values: [1, 'x'],
  })
  t.same(upsertInto('t', 'a', { a: 1, b: 'x', c: null }).texts, [
    ...['INSERT INTO t (a, b, c) VALUES (', ', ', ', '],
    ') ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c',
  ])
  t.end()
})
