import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { listen, requestText } from '../../support/answers.js'
import { openControl, usageOf } from '../../support/control.js'
import { startWorld } from '../../support/world.js'
import type { World } from '../../support/world.js'

const clients = 40

const registry = `
datasets:
  left:
    title: Left
    files: data/rows.parquet
    require_filter: false
    plans:
      month: {rows_per_month: 1234, history: all, price_rub: 0, rate_per_minute: 1000000}
      large: {rows_per_month: 100000, history: all, price_rub: 0, rate_per_minute: 1000000}
  right:
    title: Right
    files: data/rows.parquet
    require_filter: false
    plans: {month: {rows_per_month: 800, history: all, price_rub: 0, rate_per_minute: 1000000}}
`

function startRows(t: Parameters<typeof startWorld>[0]): Promise<World> {
  return startWorld(t, {
    files: { 'data/rows.parquet': 'SELECT i AS id FROM range(5000) t(i)' },
    registry,
    storedOrder: { left: ['id'], right: ['id'] },
  })
}

interface Delivered {
  readonly rows: number
  readonly refused: number
}

/** Asks for page after page until the quota ends; counts the rows that arrived, whole or not at all. */
async function drain(
  port: number,
  token: string,
  dataset: string,
  limit: number,
): Promise<Delivered> {
  let rows = 0
  for (let page = 0; page < 200; page++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/${dataset}?limit=${limit}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const body = (await response.json()) as { data?: unknown[]; error?: string }
    if (response.status === 429 && body.error === 'row_quota_exceeded') return { rows, refused: 1 }
    if (response.status !== 200) throw new Error(JSON.stringify(body))
    rows += body.data?.length ?? 0
  }
  return { rows, refused: 0 }
}

// Guarantee: however many ask at once, rows delivered = rows charged, and never above the quota.
await t.test('forty clients on one token get exactly the quota together', async (t) => {
  const world = await startRows(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['left:month'])
  const port = await listen(world)
  const all = await Promise.all(
    Array.from({ length: clients }, (_, index) => drain(port, token, 'left', 1 + (index % 17))),
  )
  const delivered = all.reduce((sum, { rows }) => sum + rows, 0)
  t.equal(delivered, 1234, 'to the row')
  t.equal((await usageOf(control, world, subscriptionId)).total, delivered)
  t.ok(all.every(({ refused }) => refused === 1))
})

await t.test('two datasets under one cap stay within their quotas and the cap', async (t) => {
  const world = await startRows(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['left:month', 'right:month'], {
    globalRows: 1500,
  })
  const port = await listen(world)
  const sum = { left: 0, right: 0 }
  await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const dataset = index % 2 === 0 ? 'left' : 'right'
      const { rows } = await drain(port, token, dataset, 7 + (index % 5))
      sum[dataset] += rows
    }),
  )
  const usage = await usageOf(control, world, subscriptionId)
  t.equal(sum.left + sum.right, 1500)
  t.ok(sum.left <= 1234 && sum.right <= 800, JSON.stringify(sum))
  t.equal(usage.datasets.get('left'), sum.left)
  t.equal(usage.datasets.get('right'), sum.right)
})

// Guarantee: delivered ≤ charged, also when clients leave in the middle of their answers.
await t.test('clients that hang up at any moment never have more than was charged', async (t) => {
  const world = await startRows(t)
  const control = openControl(t, world)
  const { token, subscriptionId } = await world.subscribe(['left:large'])
  const port = await listen(world)
  const arrivals = new EventEmitter()
  arrivals.setMaxListeners(clients)
  let arrived = 0
  /** When so many chunks have come to all clients together. */
  const atChunk = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (arrived >= count) resolve()
      }
      arrivals.on('chunk', look)
      look()
    })
  const received = await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const socket = connect({ host: '127.0.0.1', port })
      const chunks: Buffer[] = []
      socket.on('data', (chunk) => {
        chunks.push(chunk)
        arrived += 1
        arrivals.emit('chunk')
      })
      socket.on('error', () => undefined)
      const headers = { Authorization: `Bearer ${token}` }
      socket.write(requestText('GET /v1/left?limit=1000', headers))
      // Every second waits for its own answer, so that the others wait for chunks that come.
      await (index % 2 === 0 ? atChunk(index / 2) : once(socket, 'data'))
      socket.resetAndDestroy()
      return Buffer.concat(chunks).toString().split('{"id":').length - 1
    }),
  )
  const after = await world.get('/v1/left?id=eq.-1', token)
  t.equal(after.status, 200)
  await world.app.close()
  const delivered = received.reduce((sum, rows) => sum + rows, 0)
  const { total } = await usageOf(control, world, subscriptionId)
  t.ok(delivered <= total && total <= clients * 1000, `${delivered} delivered, ${total} charged`)
  t.notOk(
    world.log.some((line) => line.includes('"level":50')),
    'and no error of ours',
  )
})
