import t from 'tap'
import { sql } from '../../../src/control/store/sql.js'
import type { ControlStore } from '../../../src/control/store/store.js'
import { openAnyStore } from '../fixtures/store.js'

const add = (store: ControlStore, email: string) =>
  store.run(sql`INSERT INTO subscribers (email, created_at) VALUES (${email}, 1)`)

async function emails(store: ControlStore): Promise<readonly string[]> {
  const rows = await store.all<{ email: string }>(sql`SELECT email FROM subscribers ORDER BY id`)
  return rows.map(({ email }) => email)
}

await t.test('a transaction that rejects leaves nothing behind', async (t) => {
  const store = openAnyStore(t)
  const failure = new Error('after the insert')
  await t.rejects(
    store.write(async (tx) => {
      await add(tx, 'a@b.example')
      throw failure
    }),
    failure,
  )
  t.same(await emails(store), [])
})

await t.test('a write in a transaction that rejects undoes only its own writes', async (t) => {
  const store = openAnyStore(t)
  await store.write(async (tx) => {
    await add(tx, 'before@b.example')
    await t.rejects(
      tx.write(async (inner) => {
        await add(inner, 'undone@b.example')
        await inner.write((innermost) => add(innermost, 'undone-too@b.example'))
        throw new Error('after both')
      }),
    )
    await tx.write((inner) => add(inner, 'inside@b.example'))
    await add(tx, 'after@b.example')
  })
  t.same(await emails(store), ['before@b.example', 'inside@b.example', 'after@b.example'])
})

await t.test('a statement that is refused in a write undoes that write', async (t) => {
  const store = openAnyStore(t)
  await store.write(async (tx) => {
    await add(tx, 'first@b.example')
    await t.rejects(tx.write((inner) => add(inner, 'FIRST@b.example')))
    await add(tx, 'second@b.example')
  })
  t.same(await emails(store), ['first@b.example', 'second@b.example'])
})

await t.test('writes that begin together in a transaction run one after another', async (t) => {
  const store = openAnyStore(t)
  await store.write(async (tx) => {
    const results = await Promise.allSettled([
      tx.write((inner) => add(inner, 'one@b.example')),
      tx.write(async (inner) => {
        await add(inner, 'undone@b.example')
        throw new Error('undone')
      }),
      tx.write((inner) => add(inner, 'two@b.example')),
      add(tx, 'three@b.example'),
    ])
    t.same(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
  })
  const kept = ['one@b.example', 'three@b.example', 'two@b.example']
  t.same([...(await emails(store))].sort(), kept)
})

await t.test('a transaction is used only while it runs', async (t) => {
  const store = openAnyStore(t)
  const ended = await store.write(async (tx) => ({ tx }))
  await t.rejects(add(ended.tx, 'late@b.example'), {
    message: 'a statement came after the end of its transaction',
  })
  t.same(await emails(store), [])
})

await t.test('addresses are equal without the case of ASCII letters, and only those', async (t) => {
  const store = openAnyStore(t)
  await add(store, 'Jörg@B.example')
  const found = async (email: string) => {
    const isEmail = store.dialect.isEmail(sql`email`, email)
    return (await store.all(sql`SELECT 1 FROM subscribers WHERE ${isEmail}`)).length
  }
  t.same(
    await Promise.all(['jörg@b.EXAMPLE', 'jÖrg@b.example', 'jorg@b.example'].map(found)),
    [1, 0, 0],
  )
})
