import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { reissueToken } from '../../src/control/tokens/tokens.js'
import { column, isError } from '../support/answers.js'
import { openControl } from '../support/control.js'
import { filesOnly } from '../support/tables.js'
import { demoToken, startThings } from '../support/things.js'
import { startWorld, writeParquet } from '../support/world.js'
import { sql } from '../../src/control/store/sql.js'
import type { World } from '../support/world.js'

const text = /^The cursor is not valid for this request\. Repeat the request that gave it/

async function firstCursor(world: World, token: string, url: string): Promise<string> {
  const { body } = await world.get(url, token)
  if (body.next_cursor === null) throw new Error(`${url} has one page`)
  return body.next_cursor
}

await t.test('a walk repeats and misses no row, for every page size', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const sizes of [[1], [2], [3, 1], [4, 1, 7], [15], [14, 1], [1000]]) {
    const seen: unknown[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null; page++) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`
      const limit = sizes[page % sizes.length] ?? 1
      const answer = await world.get(`/v1/things?limit=${limit}${next}`, token)
      seen.push(...answer.body.data.map((row) => `${String(row['year'])} ${String(row['id'])}`))
      cursor = answer.body.next_cursor
      if (page > 20) throw new Error('the walk does not end')
    }
    t.equal(seen.length, 15, sizes.join())
    t.same(seen, [...new Set(seen)].sort(), sizes.join())
  }
})

await t.test('limit and select may change on the way, by URL and by POST', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const cursor = await firstCursor(world, token, '/v1/things?id=in.a3,a1&limit=1&select=id')
  const byUrl = await world.get(`/v1/things?id=in.a1,a3&cursor=${cursor}&select=year,id`, token)
  t.same(column(byUrl, 'year'), [2022, 2023, 2023, 2024, 2024])
  t.equal(byUrl.body.next_cursor, null)
  const filters = [{ column: 'id', op: 'in', value: ['a3', 'a1', 'a3'] }]
  const byBody = await world.post('/v1/things/query', token, { filters, cursor, limit: 2 })
  t.same(column(byBody, 'id'), ['a3', 'a1'], 'the same filters in other words')
})

// Guarantee: a cursor is valid only for its own request, and all other uses get one text.
await t.test(
  'a cursor of another query, dataset, caller or key is 400, one text for all',
  async (t) => {
    const world = await startThings(t)
    const { token } = await world.subscribe(['things:pro', 'days:pro'])
    const same = await world.subscribe(['things:pro'])
    const url = '/v1/things?year=gte.2022&limit=2'
    const cursor = await firstCursor(world, token, url)
    t.equal((await world.get(`${url}&cursor=${cursor}`, token)).status, 200)
    const foreign: readonly (readonly [string, string])[] = [
      [`/v1/things?limit=2&cursor=${cursor}`, token],
      [`/v1/things?year=gte.2023&limit=2&cursor=${cursor}`, token],
      [`/v1/things?year=gte.2022&id=not_null&cursor=${cursor}`, token],
      [`/v1/things?year=gt.2022&cursor=${cursor}`, token],
      [`/v1/days?cursor=${cursor}`, token],
      [`${url}&cursor=${cursor}`, same.token],
      [`${url}&cursor=${cursor}`, demoToken],
      [`${url}&cursor=${await firstCursor(world, demoToken, url)}`, token],
    ]
    for (const [request, caller] of foreign) {
      isError(t, await world.get(request, caller), 'bad_request', text, request)
    }
    const texts = new Set<string>()
    for (const [request, caller] of foreign) texts.add((await world.get(request, caller)).text)
    texts.add((await world.get(`${url}&cursor=x`, token)).text)
    t.equal(texts.size, 1)
  },
)

await t.test('a cursor with one bit changed, cut, lengthened or made up is 400', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const cursor = await firstCursor(world, token, '/v1/things?limit=2')
  const bytes = Buffer.from(cursor, 'base64url')
  const forged: string[] = []
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes)
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    forged.push(flipped.toString('base64url'))
  }
  for (let length = 0; length < cursor.length; length++) forged.push(cursor.slice(0, length))
  forged.push(`${cursor}A`, `${cursor}=`, ` ${cursor}`, `${cursor}%00`, `${cursor}.`)
  forged.push(bytes.toString('base64'), bytes.toString('hex'), cursor.toLowerCase())
  forged.push('A'.repeat(47), 'A'.repeat(10_000), 'null', '0', '{}', '%F0%9F%98%80', '-1')
  for (const each of forged) {
    if (each === cursor) continue
    const answer = await world.get(`/v1/things?limit=2&cursor=${each}`, token)
    if (answer.status !== 400 || !text.test(answer.body.detail)) t.fail(`${each}: ${answer.text}`)
  }
  t.equal((await world.get(`/v1/things?limit=2&cursor=${cursor}`, token)).status, 200)
})

// Guarantee: a cursor gives no access of its own; what its holder may see now decides.
await t.test(
  'a cursor outlives a reissue; after a change of plan it obeys the new window',
  async (t) => {
    const world = await startThings(t)
    const control = openControl(t, world)
    const { token, subscriptionId } = await world.subscribe(['things:pro'])
    const cursor = await firstCursor(world, token, '/v1/things?limit=2')
    const reissued = await reissueToken(control, subscriptionId, {
      graceMs: 0,
      now: () => world.clock.ms,
    })
    const next = await world.get(`/v1/things?limit=2&cursor=${cursor}`, reissued.token)
    t.same(column(next, 'year'), [2022, 2022])
    await control.run(
      sql`UPDATE grants SET plan = 'last' WHERE subscription_id = ${subscriptionId}`,
    )
    const narrowed = await world.get(`/v1/things?limit=1000&cursor=${cursor}`, reissued.token)
    t.same(column(narrowed, 'year'), [2024, 2024, 2024, 2024, 2024])
    await control.run(sql`DELETE FROM grants WHERE subscription_id = ${subscriptionId}`)
    const without = await world.get(`/v1/things?limit=2&cursor=${cursor}`, reissued.token)
    isError(t, without, 'not_found')
  },
)

await t.test(
  'a walk continues over its own files after they are replaced',
  filesOnly('replaces'),
  async (t) => {
    const files = (from: number) => ({
      'data/rows.parquet': `SELECT i AS id FROM range(${from}, ${from + 10}) t(i)`,
    })
    const registry = `
datasets:
  rows:
    title: Rows
    files: data/rows.parquet
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0}}
`
    const world = await startWorld(t, { files: files(0), registry })
    const { token } = await world.subscribe(['rows:pro'])
    const cursor = await firstCursor(world, token, '/v1/rows?limit=2')
    rmSync(join(world.folder, 'data/rows.parquet'))
    await writeParquet(world.folder, files(500))
    t.same(column(await world.get(`/v1/rows?limit=2&cursor=${cursor}`, token), 'id'), [2, 3])
  },
)
