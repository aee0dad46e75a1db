import t from 'tap'
import { chooseDropped, chooseFiles } from '../../../src/engine/duckdb/choice.js'
import type { Choice } from '../../../src/engine/duckdb/choice.js'
import { PlainPaths } from '../../../src/engine/duckdb/plain-paths.js'
import { narrow } from '../../../src/engine/duckdb/read/narrow.js'
import type { Statement } from '../../../src/engine/duckdb/run-statement.js'
import type { Version } from '../../../src/versions/version.js'
import { openEngine } from '../fixtures/open-engine.js'

// When a search file is read first agrees with measured costs (scripts/bench/NOTES.md).

const fileRows = 20_480
const filesCount = 731

await t.test('a search file is read where it costs less than the column', async (t) => {
  const { version: small, filter } = await openEngine(t, {
    files: { 'a.parquet': "SELECT '1' AS inn, 'a' AS name, 'a' AS note" },
    entry: '    key: [inn]\n',
  })
  const [model] = small.files
  if (!model) throw new Error('no file')
  const file = { ...model, rows: fileRows, bounds: new Map() }
  const stored = { path: 'search', guard: null, hash: null, name: 'search', sizeBytes: 1 }
  const version: Version = {
    ...small,
    rows: filesCount * fileRows,
    files: Array.from({ length: filesCount }, () => file),
    dropped: [{ ...file, rows: filesCount * fileRows, keepsOrder: true }],
    search: [{ ...stored, column: 'name', texts: 2_250_000 }],
  }
  const statements: Statement[] = []
  const narrowed = async (choice: Choice, first: number, end: number, found: readonly number[]) => {
    statements.length = 0
    const scan = { files: choice.files.slice(first, end), range: null }
    const run = async (statement: Statement) => {
      statements.push(statement)
      return [[...found]]
    }
    const context = { checks: null, paths: new PlainPaths(), run }
    const { files } = await narrow(choice, scan, context)
    return { files: files.map(({ index }) => index), statements: statements.length }
  }
  const search = (column: string, words: string) => filter(column, 'contains', words)
  const range = (first: number, end: number) =>
    Array.from({ length: end - first }, (_, index) => first + index)

  const rare = chooseFiles(version, search('name', 'аэрофлот'))
  t.same(await narrowed(rare, 0, 6, [3]), { files: range(0, 6), statements: 0 }, 'a first piece')
  t.same(await narrowed(rare, 6, 60, [7, 7, 59]), { files: [7, 59], statements: 1 })
  t.match(statements[0]?.values?.slice(1, 4), [
    { value: 6n },
    { value: 59n },
    { value: 'аэрофлот' },
  ])
  t.same(await narrowed(rare, 0, filesCount, []), { files: [], statements: 1 }, 'no such text')

  const number = chooseFiles(version, search('name', '3326'))
  t.same(await narrowed(number, 6, 60, [8]), { files: [8], statements: 1 })
  t.same(await narrowed(number, 6, 20, [8]), { files: range(6, 20), statements: 0 })

  const frequent = range(0, 5000).map((index) => index % filesCount)
  t.same(
    await narrowed(rare, 0, filesCount, frequent),
    { files: range(0, filesCount), statements: 1 },
    'words that are everywhere',
  )
  const words = chooseFiles(version, search('name', 'вектор 3326'))
  await narrowed(words, 0, filesCount, [1])
  t.match(statements[0]?.values?.slice(3, 5), [{ value: '3326' }, { value: 'вектор' }])

  const all = range(0, filesCount)
  const byKey = chooseFiles(version, [...search('name', 'а'), ...filter('inn', 'eq', '1')])
  t.same(await narrowed(byKey, 0, filesCount, [1]), { files: all, statements: 0 })
  const unmarked = chooseFiles(version, search('note', 'а'))
  t.same(await narrowed(unmarked, 0, filesCount, [1]), { files: all, statements: 0 })
  const dropped = chooseDropped(version, search('name', 'а'))
  t.same(await narrowed(dropped, 0, 1, []), { files: [filesCount], statements: 0 })
})
