import { copyFileSync, linkSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { findFiles } from '../../../src/versions/files/find-files.js'
import { isTaken, listMatches } from '../../../src/versions/files/list-matches.js'
import { FileError } from '../../../src/versions/opener.js'

// Guarantee: a pattern takes the files that its owner means, each once: none that was never
// committed, none of a table whose own records say which files count, none from elsewhere.

/** A folder with empty files of these names. */
function folderOf(t: Test, names: readonly string[]): string {
  const folder = t.testdir({})
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), '')
  }
  return folder
}

async function namesIn(folder: string, pattern: string, followLinks = false) {
  const found = await findFiles(folder, [pattern], { followLinks })
  return found.map(({ name }) => name)
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const cause: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (cause instanceof FileError) return cause.reason
  throw new Error(`not refused: ${String(cause)}`)
}

await t.test('names that begin with _ or . are left out on every level', async (t) => {
  const folder = folderOf(t, [
    'a.parquet',
    '_b.parquet',
    '.c.parquet',
    '_temporary/0/task_1/d.parquet',
    'deep/_spark_metadata/e.parquet',
    'deep/.staging/f.parquet',
    'deep/g.parquet',
    '_year=2024/h.parquet',
    '_year=2024/_i.parquet',
  ])
  t.same(await namesIn(folder, '**/*.parquet'), [
    '_year=2024/h.parquet',
    'a.parquet',
    'deep/g.parquet',
  ])
  t.same(await namesIn(folder, '{_b,a}.parquet'), ['a.parquet'])
  t.same(await namesIn(folder, '_year=*/*.parquet'), ['_year=2024/h.parquet'])
  t.same(await namesIn(folder, '_b.parquet'), ['_b.parquet'], 'a whole path is taken')
  t.same(
    await namesIn(folder, '_temporary/0/**/*.parquet'),
    ['_temporary/0/task_1/d.parquet'],
    'so are the folders before the first sign of a pattern',
  )
  t.match(await refusal(namesIn(folder, '_*.parquet')), /^matches only names that begin .* \(1\)/)
  t.equal(
    await refusal(namesIn(folder, 'no*.parquet')),
    'matches no file; its folder has "a.parquet", "deep"',
  )
})

await t.test('a name is judged part by part', (t) => {
  for (const path of ['a/b', '_x=1/b', 'a/_x=/b', '../b']) t.ok(isTaken(path), path)
  for (const path of ['_x=1', 'a/.x=1/b', '_=/_b', '_a/b', 'a/.b']) t.notOk(isTaken(path), path)
  t.end()
})

const tables = {
  Delta: '_delta_log/00000000000000000000.json',
  Iceberg: 'metadata/v1.metadata.json',
  Hudi: '.hoodie/hoodie.properties',
} as const

for (const [format, mark] of Object.entries(tables)) {
  await t.test(`files of ${format} tables are refused at any depth`, async (t) => {
    for (const [root, inTable, pattern] of [
      ['', 'a.parquet', '*.parquet'],
      ['', 'data/year=2024/a.parquet', 'data/year=2024/*.parquet'],
      ['lake/sales', 'a.parquet', 'lake/sales/*.parquet'],
      ['lake/sales', 'x/y/z/a.parquet', 'lake/sales/x/y/z/*.parquet'],
      ['lake/sales', 'x/y/a.parquet', 'lake/**/*.parquet'],
      ['lake/sales', 'a.parquet', 'lake/*/*.parquet'],
    ] as const) {
      const folder = folderOf(t, [join(root, mark), join(root, inTable), 'lake/plain/b.parquet'])
      const reason = await refusal(namesIn(folder, pattern))
      t.match(reason, new RegExp(`^is an? ${format} table: .*plain Parquet files`), pattern)
      if (root === '') continue
      t.same(await namesIn(folder, 'lake/plain/*.parquet'), ['lake/plain/b.parquet'], 'its twin')
    }
  })
}

await t.test('folders of the same names without a table are taken', async (t) => {
  const names = ['metadata/a.parquet', 'metadata/notes.json', 'b.parquet']
  const folder = folderOf(t, [...names, '_delta_log.txt'])
  t.same(await namesIn(folder, '**/*.parquet'), ['b.parquet', 'metadata/a.parquet'])
})

await t.test('a file that links name several times is taken once', async (t) => {
  const folder = folderOf(t, ['data/b.parquet', 'data/x=1/c.parquet'])
  symlinkSync('..', join(folder, 'data/a-loop'))
  symlinkSync('b.parquet', join(folder, 'data/a.parquet'))
  linkSync(join(folder, 'data/b.parquet'), join(folder, 'data/c.parquet'))
  symlinkSync('x=1', join(folder, 'data/x=2'))
  const own = ['data/b.parquet', 'data/x=1/c.parquet', 'data/x=2/c.parquet']
  t.same(await namesIn(folder, 'data/**/*.parquet'), own, 'in x=2 it has another value')
  t.same(await namesIn(folder, '**/*.parquet'), own)
  t.same(await namesIn(folder, 'data/a.parquet'), ['data/a.parquet'], 'a path may be a link')
})

await t.test('a link out of the folder is refused unless the owner allows it', async (t) => {
  const folder = folderOf(t, ['drop/a.parquet', 'secret/s.parquet', 'drop2/x.parquet'])
  symlinkSync('../secret/s.parquet', join(folder, 'drop/x.parquet'))
  t.match(await refusal(namesIn(folder, 'drop/*.parquet')), /outside .*follow_links: true/)
  const both = ['drop/a.parquet', 'drop/x.parquet']
  t.same(await namesIn(folder, 'drop/*.parquet', true), both)
  renameSync(join(folder, 'drop/x.parquet'), join(folder, 'x'))
  symlinkSync('../drop2', join(folder, 'drop/folder'))
  t.match(await refusal(namesIn(folder, 'drop/**/*.parquet')), /outside/, 'a folder like the own')
  t.same(await namesIn(folder, 'drop/*.parquet'), ['drop/a.parquet'], 'what is not matched')
  symlinkSync('drop2', join(folder, 'current'))
  t.same(await namesIn(folder, 'current/*.parquet'), ['current/x.parquet'], 'the folder itself')
})

await t.test('a listing has an end', async (t) => {
  const folder = folderOf(t, [])
  for (let index = 0; index < 40; index++) {
    mkdirSync(join(folder, `f${index}`))
    for (let file = 0; file < 5; file++) {
      writeFileSync(join(folder, `f${index}/${file}.parquet`), '')
    }
  }
  const reason = await refusal(listMatches(folder, '**/*.parquet', { entriesMax: 239 }))
  t.match(reason, /^has more than 239 files and folders .*nearer to the files$/)
  t.equal((await listMatches(folder, '**/*.parquet', { entriesMax: 240 })).length, 200)
})

await t.test('a copy is a file of its own', async (t) => {
  const folder = folderOf(t, ['a.parquet'])
  copyFileSync(join(folder, 'a.parquet'), join(folder, 'b.parquet'))
  t.same(await namesIn(folder, '*.parquet'), ['a.parquet', 'b.parquet'])
})
