import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { KeptPages } from '../../../src/engine/rows/kept-pages.js'
import { machineClock } from '../../../src/clock.js'
import { plainColumn } from '../../../src/columns/column.js'
import { blockBytesMax } from '../../../src/engine/rows/layout.js'
import { Pace } from '../../../src/engine/rows/pace.js'
import type { Row } from '../../../src/engine/engine.js'
import { RowCopy } from '../../../src/engine/rows/row-copy.js'
import { RowReader } from '../../../src/engine/rows/row-reader.js'
import { wantedOf } from '../../../src/engine/rows/row-set.js'
import type { FilePosition } from '../../../src/query/question.js'
import { Splicer } from '../../../src/engine/rows/splice.js'
import { RowCopyWriter, WrongRowsError } from '../../../src/engine/rows/write-row-copy.js'

const columns = [
  plainColumn('id', { kind: 'scalar', name: 'VARCHAR' }),
  plainColumn('n', { kind: 'scalar', name: 'INTEGER' }),
]
const [id] = columns as [(typeof columns)[0]]
const pace = new Pace({ clock: machineClock, signal: new AbortController().signal })

/** Rows as the engine hands them over, `id` and its number. */
function textOf(from: number, ids: readonly string[]): Buffer {
  const rows = ids.map((each, index) => `${from + index}\x1f${JSON.stringify(each)}\x1f${index}`)
  return Buffer.from(rows.join('\x1e'))
}

async function write(t: Test, rows: number, texts: readonly Buffer[]): Promise<string> {
  const path = join(t.testdir({}), 'a.rows')
  const plan = { path, identity: 'a', rows, columns, lookUps: [id], history: null }
  const writer = await RowCopyWriter.open(plan)
  try {
    await writer.add(texts)
    await writer.finish()
    return path
  } finally {
    await writer.close()
  }
}

async function readAll(path: string, value: string): Promise<readonly string[]> {
  const copy = await RowCopy.open(path, 'a', new KeptPages())
  try {
    const file = { index: 0, rows: copy.rows, copy: { path, guard: null, hash: null, name: 'a' } }
    const reader = RowReader.of(file, copy, { wanted: [wantedOf(id, [value])], history: [] }, pace)
    const splicer = new Splicer(columns)
    const rows: Row<FilePosition>[] = []
    for await (const numbers of reader?.numbers(0, () => 3) ?? []) {
      await reader?.read(numbers, splicer, rows)
    }
    return rows.map(({ encoded }) => String(encoded))
  } finally {
    await copy.close()
  }
}

await t.test('rows out of order, repeated or missing are refused', async (t) => {
  const wrong: Readonly<Record<string, readonly Buffer[]>> = {
    'out of order': [textOf(2, ['c', 'd']), textOf(0, ['a', 'b'])],
    repeated: [textOf(0, ['a', 'b']), textOf(1, ['b', 'c'])],
    missing: [textOf(0, ['a', 'b', 'c'])],
  }
  for (const [what, texts] of Object.entries(wrong)) {
    await t.rejects(write(t, 4, texts), WrongRowsError, what)
  }
  await t.resolves(write(t, 4, [textOf(0, ['a', 'b']), textOf(2, ['c', 'd'])]))
})

await t.test('a long row has a block of its own, and short ones share blocks', async (t) => {
  const long = 'x'.repeat(2 * blockBytesMax)
  const path = await write(t, 6, [textOf(0, ['a', 'b', long, 'a', 'c', 'a'])])
  const copy = await RowCopy.open(path, 'a', new KeptPages())
  t.same(
    [0, 1, 2, 3, 4, 5].map((row) => copy.blockOf(row)),
    [0, 0, 1, 2, 2, 2],
  )
  await copy.close()
  t.same(await readAll(path, 'a'), ['{"id":"a","n":0}', '{"id":"a","n":3}', '{"id":"a","n":5}'])
  t.equal((await readAll(path, long)).length, 1)
  t.same(await readAll(path, 'd'), [])
})

await t.test('a value of many rows is found over many pages, in order', async (t) => {
  const ids = Array.from({ length: 5000 }, (_, index) => (index % 3 === 0 ? 'many' : `c${index}`))
  const path = await write(t, 5000, [textOf(0, ids)])
  const found = await readAll(path, 'many')
  t.same(
    found.map((row) => (JSON.parse(row) as { n: number }).n),
    ids.flatMap((each, index) => (each === 'many' ? [index] : [])),
  )
})

await t.test('a copy of another identity is not opened', async (t) => {
  const path = await write(t, 1, [textOf(0, ['a'])])
  await t.rejects(RowCopy.open(path, 'b', new KeptPages()), { name: 'DamagedCopyError' })
})
