import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { makeFormsAside } from '../../../src/app/pack-process.js'
import { formsOf } from '../../../src/versions/forms/form.js'
import { readFormRecord } from '../../../src/versions/forms/form-record.js'
import { formsOrder } from '../../../src/versions/forms/forms-order.js'
import type { FormsOrder } from '../../../src/versions/forms/forms-order.js'
import { openVersion } from '../../engine/fixtures/open-engine.js'
import { testFolder } from '../../support/folder.js'
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

/** The order for all forms of one file, and the folder that they come to. */
async function orderOf(t: Test, rowCount: number): Promise<FormsOrder> {
  const folder = testFolder(t)
  await writeParquet(join(folder, 'data'), {
    'a.parquet': `${rows} FROM range(${rowCount}) t(i)`,
  })
  const version = await openVersion(folder, { entry: '    key: k\n' })
  return formsOrder(version, join(folder, 'forms'), formsOf(version), 256 * 1024 ** 2)
}

await t.test('a separate process makes forms at low priority, and ends', async (t) => {
  const order = await orderOf(t, 2000)
  const before = children()
  const seen = new Set<number>()
  await makeFormsAside(order, {
    signal: new AbortController().signal,
    report: () => {
      for (const pid of children().filter((each) => !before.includes(each))) {
        for (const priority of priorities(pid)) seen.add(priority)
      }
    },
  })
  t.same([...seen], [19], 'every thread of it')
  t.same(children(), before)
  t.same(
    Object.keys(await readFormRecord(order.folder)).sort(),
    order.forms.map(({ name }) => name).sort(),
  )
})

await t.test('an abort kills it, and the call says why', async (t) => {
  const order = await orderOf(t, 1_000_000)
  const before = children()
  const stop = new AbortController()
  const reason = new Error('the server stops')
  const report = () => stop.abort(reason)
  await t.rejects(makeFormsAside(order, { signal: stop.signal, report }), reason)
  t.same(children(), before)
  t.same(await readFormRecord(order.folder), {})
})

await t.test('errors of the packing process keep their class', async (t) => {
  const order = await orderOf(t, 10)
  const options = { signal: new AbortController().signal, report: () => undefined }
  const [file] = order.files
  if (!file) throw new Error('no file')
  const other = [{ ...file, guard: 'another' }]
  await t.rejects(makeFormsAside({ ...order, files: other }, options), { name: 'PackError' })
  const path = join(order.folder, 'gone.parquet')
  const gone = [{ ...file, path }]
  await t.rejects(makeFormsAside({ ...order, files: gone }, options), { name: 'FileError', path })
})
