import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packAside } from '../../../src/app/pack-process.js'
import { orderOf, packedRows } from '../../engine/fixtures/pack-files.js'
import { writeParquet } from '../../support/parquet.js'

const rows = 'SELECT (i * 7919) % 2000 AS k, i AS n, repeat(chr(97 + (i % 26)::INT), 20) AS s'

/** Processes that this one has started, by Linux's own account. */
function children(): readonly number[] {
  const path = `/proc/${process.pid}/task/${process.pid}/children`
  return readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Null for a thread that has ended meanwhile: a check before the read would come too early. */
function statOf(folder: string): string | null {
  try {
    return readFileSync(join(folder, 'stat'), 'utf8')
  } catch (cause) {
    if (['ENOENT', 'ESRCH'].includes(String((cause as NodeJS.ErrnoException).code))) return null
    throw cause
  }
}

/** Of every thread of a process: 19 gives way to all others. */
function priorities(pid: number): readonly number[] {
  const folder = `/proc/${pid}/task`
  return readdirSync(folder).flatMap((thread) => {
    const text = statOf(join(folder, thread))
    return text === null ? [] : Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16])
  })
}

await t.test('a separate process packs at low priority, and ends', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'a.parquet': `${rows} FROM range(2000) t(i)` })
  const before = children()
  const seen = new Set<number>()
  const packed = await packAside(await orderOf(folder, ['a.parquet'], ['k']), {
    signal: new AbortController().signal,
    report: () => {
      for (const pid of children().filter((each) => !before.includes(each))) {
        for (const priority of priorities(pid)) seen.add(priority)
      }
    },
  })
  t.same([...seen], [19], 'every thread of it')
  t.same(children(), before)
  const keys = (await packedRows(packed, 'k')).map((text) => Number(/\d+/.exec(text)?.[0]))
  t.same(keys, [...Array(2000).keys()])
})

await t.test('an abort kills it, and the call says why', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'a.parquet': `${rows} FROM range(1_000_000) t(i)` })
  const before = children()
  const stop = new AbortController()
  const reason = new Error('the server stops')
  const order = await orderOf(folder, ['a.parquet'], ['k'])
  const report = () => stop.abort(reason)
  await t.rejects(packAside(order, { signal: stop.signal, report }), reason)
  t.same(children(), before)
  t.notOk(existsSync(order.target))
})

await t.test('errors of the packing process keep their class', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'a.parquet': 'SELECT 1::BIGINT AS id' })
  const order = await orderOf(folder, ['a.parquet'], ['id'])
  const options = { signal: new AbortController().signal, report: () => undefined }
  const huge = [{ name: 'id', type: { kind: 'scalar', name: 'HUGEINT' } as const }]
  await t.rejects(packAside({ ...order, columns: huge }, options), { name: 'PackError' })
  const path = join(folder, 'gone.parquet')
  const gone = order.files.map((file) => ({ ...file, path }))
  await t.rejects(packAside({ ...order, files: gone }, options), { name: 'FileError', path })
})
