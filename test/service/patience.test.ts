import t from 'tap'
import type { Access } from '../../src/access/access.js'
import { registryDataset } from '../../src/catalog/dataset.js'
import type { Engine } from '../../src/engine/engine.js'
import { ServiceError } from '../../src/errors.js'
import { exactJsonText } from '../../src/query/exact-json.js'
import type { Filter } from '../../src/query/read-filters.js'
import { Descriptions } from '../../src/service/descriptions.js'
import { explainEmpty } from '../../src/service/empty-answer.js'
import { Guides } from '../../src/service/guides.js'
import { never, openEngine } from '../engine/fixtures/open-engine.js'
import type { EngineWorld } from '../engine/fixtures/open-engine.js'
import { machineClock } from '../../src/clock.js'
import type { Clock } from '../../src/clock.js'
import { MovingClock } from '../support/moving-clock.js'

/** A caller does not wait for help: what is not ready in time is left out. */

const options = { signal: never, client: 'a client' }

function accessTo({ version }: EngineWorld): Access {
  const dataset = registryDataset('rows', { title: 'Rows', files: 'data/*.parquet' })
  const { columns } = version
  return { dataset: { ...dataset, version }, version, plan: null, predicates: [], columns, key: '' }
}

await t.test('a guide goes without facts that are late, and has them the next time', async (t) => {
  const world = await openEngine(t, {
    files: { 'a.parquet': 'SELECT i AS id, i % 3 AS kind FROM range(300000) t(i)' },
  })
  const guides = new Guides(world.engine, new Descriptions(world.engine), machineClock)
  const access = accessTo(world)
  const hurried = await guides.guide(access, options, 0)
  t.equal(hurried.profiled_rows, null)
  t.same(
    hurried.columns.map((column) => Object.keys(column).filter((key) => key === 'values')),
    [[], []],
  )
  t.equal(hurried.sample_rows.length, 3, 'the rest is there')
  t.equal(hurried.examples[0]?.row_count, 1)
  const patient = await guides.guide(access, options)
  t.equal(patient.profiled_rows, 100_000)
  t.equal(exactJsonText(patient.columns[1]?.values), '[0,1,2]')
  t.same(await guides.guide(access, options, 0), patient, 'and is kept')
})

await t.test('a late hint is left out, and so is the hint for a disconnected client', async (t) => {
  const world = await openEngine(t, { files: { 'a.parquet': 'SELECT 1 AS id' } })
  const [column] = world.version.columns
  if (!column) throw new Error('no column')
  const predicates = world.filter('id', 'eq', '2')
  const filter: Filter = { column, operator: 'eq', texts: ['2'], predicates }
  /** The engine, busy until the caller has given up. */
  const busy = {
    read: (_question: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  } satisfies Pick<Engine, 'read'> as unknown as Engine
  const access = accessTo(world)
  let paid = 0
  const payRow = async () => {
    paid += 1
    return true
  }
  const clock = new MovingClock(0)
  const explain = (signal: AbortSignal) =>
    explainEmpty({ engine: busy, clock }, access, [filter], { ...options, payRow, signal })
  t.equal(await clock.advanceUntil(explain(never)), null)
  const gone = new AbortController()
  const asked = explain(gone.signal)
  gone.abort(new Error('the client is gone'))
  await t.rejects(asked, { message: 'the client is gone' })
  t.equal(paid, 0, 'and neither is paid for')
})

// Guarantee: an explanation that looks at rows is not given unpaid.
await t.test("a hint that can't be paid for reveals nothing of the rows", async (t) => {
  const world = await openEngine(t, { files: { 'a.parquet': 'SELECT i AS id FROM range(9) t(i)' } })
  const [column] = world.version.columns
  if (!column) throw new Error('no column')
  const filterOf = (value: string): Filter => {
    const predicates = world.filter('id', 'eq', value)
    return { column, operator: 'eq', texts: [value], predicates }
  }
  const filters = [filterOf('2'), filterOf('3')]
  const explain = (
    payRow: (signal: AbortSignal) => Promise<boolean>,
    clock: Clock = machineClock,
  ) =>
    explainEmpty({ engine: world.engine, clock }, accessTo(world), filters, { ...options, payRow })
  t.match(await explain(async () => true), {
    text: /^Together .+ id eq "2", id eq "3"/,
    isPaid: true,
  })
  t.equal(await explain(async () => false), null, 'no row is left')
  const failing = async () => {
    throw new ServiceError('service_unavailable', 'The records are locked.')
  }
  t.equal(await explain(failing), null)
  const endless = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const clock = new MovingClock(0)
  const late = clock.advanceUntil(explain(endless, clock))
  t.equal(await late, null, 'and no longer than any other part of it')
  await t.rejects(
    explain(() => Promise.reject(new Error('a fault'))),
    { message: 'a fault' },
  )
})
