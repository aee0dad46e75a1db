import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { devNull } from 'node:os'
import t from 'tap'
import type { Test } from 'tap'
import { ServiceError } from '../../../src/errors.js'
import { openEngine } from '../../engine/fixtures/open-engine.js'
import type { EngineWorld, EngineWorldOptions } from '../../engine/fixtures/open-engine.js'

// Guarantee: a poisoned file can't take the house down (ARCHITECTURE, decision 7). DuckDB 1.5.6 ends
// a whole instance over a VARIANT whose parts it does not find where it wrote them. Naming one of
// them otherwise in the footer is enough, and reading the other columns goes on as ever.

/** The poisoned one first; then many that take a statement each, laid out by turns. */
const files = Object.fromEntries([
  ['a.parquet', 'SELECT i AS id, CAST(i AS VARIANT) AS poison FROM range(5) t(i)'],
  ...Array.from({ length: 40 }, (_, number) => {
    const names = number % 2 === 0 ? 'text, odd' : 'text'
    const start = number * 1000
    const rows = `SELECT i AS id, md5(i::VARCHAR) AS text, i % 2 AS odd
      FROM range(${start}, ${start + 1000}) t(i)`
    return [`b${number + 10}.parquet`, `SELECT id, ${names} FROM (${rows})`] as const
  }),
])

async function openPoisoned(
  t: Test,
  engine: EngineWorldOptions['engine'] = {},
): Promise<EngineWorld> {
  const world = await openEngine(t, { files, entry: '    key: id\n', engine, unguarded: true })
  const path = world.version.files[0]?.path ?? ''
  const bytes = readFileSync(path, 'latin1')
  writeFileSync(path, bytes.replaceAll('value', 'valux'), 'latin1')
  return world
}

const drink = (world: EngineWorld) => world.read([], { columns: ['poison'], limit: 1 })

/** Reads the files that are in order, one statement after another. */
const work = async (world: EngineWorld, client: string) => {
  const { rows } = await world.read(world.filter('text', 'like', 'ff*'), { client })
  return rows.length
}

await t.test('an INTERNAL error tells the caller nothing, and the next query works', async (t) => {
  const world = await openPoisoned(t)
  const expected = await work(world, 'before')
  const cause: unknown = await drink(world).catch((error: unknown) => error)
  if (!(cause instanceof ServiceError)) throw new Error(`no ServiceError: ${String(cause)}`)
  t.equal(cause.code, 'service_unavailable')
  t.equal(cause.detail, 'The query was stopped by the service. Try again.')
  t.match(String(cause.cause), /INTERNAL/, 'the log learns why')
  t.equal(await work(world, 'after'), expected)
  const { rows } = await world.read([], { columns: ['id'], limit: 2 })
  t.strictSame(
    rows.map(({ json }) => json),
    ['{"id":0}', '{"id":1}'],
    'other columns of the poisoned file',
  )
})

/** Opens files until the process may open no more. */
function takeDescriptors(t: Test): readonly number[] {
  const limit = (soft: string) => {
    execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${soft}:`])
  }
  limit('512')
  t.teardown(() => {
    limit('1024')
  })
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync(devNull, 'r'))
  } catch (cause) {
    t.match(cause, { code: 'EMFILE' })
  }
  return taken
}

// DuckDB ends the process if it can open no file while an instance starts.
await t.test('an instance that can open no files is refused, and a later one starts', async (t) => {
  const world = await openPoisoned(t)
  const expected = await work(world, 'before')
  await t.rejects(drink(world), { code: 'service_unavailable' })
  const taken = takeDescriptors(t)
  const refusal = { code: 'service_unavailable', detail: /could not be started/ }
  await t.rejects(work(world, 'meanwhile'), refusal)
  for (const descriptor of taken) closeSync(descriptor)
  t.equal(await work(world, 'after'), expected)
})

await t.test('queries that ran beside it run again and succeed', async (t) => {
  const world = await openPoisoned(t, { slots: 5, threads: 1 })
  const expected = await work(world, 'before')
  const beside = [1, 2, 3, 4].map((number) => work(world, `client ${number}`))
  await t.rejects(drink(world), { code: 'service_unavailable' })
  t.strictSame(await Promise.all(beside), Array(4).fill(expected))
})

await t.test('a version that breaks the engine again and again is withdrawn', async (t) => {
  const world = await openPoisoned(t)
  for (let count = 0; count < 3; count++) {
    await t.rejects(drink(world), { message: /stopped by the service/ })
  }
  await t.rejects(drink(world), { code: 'service_unavailable', detail: /withdrawn/ })
  await t.rejects(work(world, 'another'), { code: 'service_unavailable', detail: /withdrawn/ })
  const { rows } = await world.engine.read(
    {
      version: { ...world.version },
      predicates: [],
      columns: [world.column('id')],
      after: null,
      limit: 1,
    },
    { signal: new AbortController().signal, client: 'of the next version' },
  )
  t.equal(String(rows[0]?.encoded), '{"id":0}', 'its successor is served')
})
