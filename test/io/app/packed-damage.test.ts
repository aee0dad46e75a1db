import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { age, rot, rotGrossly } from '../../support/damage.js'
import { logged } from '../../support/logged.js'
import { startWorld, writeParquet } from '../../support/world.js'
import type { World } from '../../support/world.js'

/** With a limit small files are linked too: damage to a dropped file is damage to the served one. */
const settings = { diskLimit: '1GB' }

// Guarantee: a form that is damaged is never read: the files answer, and it is made again.

const registry = `
datasets:
  things:
    title: Things
    files: data/*.parquet
    key: id
    pack: auto
    plans: {pro: {rows_per_month: 10000000, history: all, price_rub: 0, rate_per_minute: 100000}}
`
const files = {
  'data/1.parquet': `SELECT (i * 7919) % 25000 AS id, md5(i::VARCHAR) AS text FROM range(25000) t(i)`,
}

const versionOf = (world: World) => world.app.catalog().datasets.get('things')?.version
const formOf = (world: World, form: 'rowCopy' | 'pages') => versionOf(world)?.files[0]?.[form]

/** A server that has packed, stopped: its folder, its forms, and some rows. */
async function packed(t: Test) {
  const folder = t.testdir({})
  await writeParquet(folder, files)
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  const { token } = await world.subscribe(['things:pro'])
  void world.app.prepare()
  await logged(world, '"packed"')
  const answers = await answersOf(world, token)
  const paths = [formOf(world, 'rowCopy')?.path ?? '', formOf(world, 'pages')?.path ?? ''] as const
  const source = versionOf(world)?.files[0]?.path ?? ''
  await world.app.close()
  return { folder, paths, source, answers, token }
}

/** By the key and without one from the row copy, by another column from the pages. */
async function answersOf(world: World, token: string) {
  const answers: unknown[] = []
  for (const query of ['id=in.7,9999,24999', 'limit=500', 'text=like.00*', 'id=gt.24990']) {
    const { status, body } = await world.get(`/v1/things?${query}`, token)
    answers.push(status === 200 ? body.data : status)
  }
  return answers
}

const damages: readonly (readonly [string, (path: string) => void])[] = [
  ['a bit near the start', (path) => rot(path, 0.01)],
  ['a bit in the middle', (path) => rot(path, 0.5)],
  ['a bit near the end', (path) => rot(path, 0.98)],
  ['40 bytes every 15 kB', rotGrossly],
]

for (const [what, damage] of damages) {
  await t.test(`${what} of each form: the files answer, and it is made again`, async (t) => {
    const { folder, paths, answers, token } = await packed(t)
    for (const path of paths) damage(path)
    const world = await startWorld(t, { at: folder, files: {}, registry, settings })
    t.same(await answersOf(world, token), answers, 'at once')
    await world.app.reload()
    t.same(await answersOf(world, token), answers, 'the files have the same rows')
    t.match(await world.get('/readyz'), { status: 200, body: { status: 'ready', data: 'ok' } })
    void world.app.prepare()
    await logged(world, 'form withdrawn')
    await logged(world, '"packed"')
    while (!formOf(world, 'rowCopy') || !formOf(world, 'pages')) {
      await answersOf(world, token)
      await world.app.reload()
      await sleep(50)
    }
    t.match(world.log.join(''), /"file":"forms\/[^"]*","found":"damaged"/)
    t.same(await answersOf(world, token), answers)
  })
}

await t.test('a file that is damaged or overwritten is answered from its pages', async (t) => {
  const { folder, source, answers, token } = await packed(t)
  const intact = readFileSync(source)
  const changes: Readonly<Record<string, () => void>> = {
    damaged: () => rot(source, 0.5),
    overwritten: () => writeFileSync(source, intact.subarray(100)),
    intact: () => writeFileSync(source, intact),
  }
  for (const [what, change] of Object.entries(changes)) {
    change()
    const world = await startWorld(t, { at: folder, files: {}, registry, settings })
    await world.app.reload()
    t.same(await answersOf(world, token), answers, what)
    await world.app.close()
  }
})

await t.test('files that are damaged while they are packed get no forms', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, files)
  const source = join(folder, 'data/1.parquet')
  age(source)
  const world = await startWorld(t, { at: folder, files: {}, registry, settings })
  rot(source, 0.3)
  void world.app.prepare()
  await logged(world, 'is damaged: its content changed, but not its size')
  t.notOk(formOf(world, 'rowCopy'))
})
