import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isDynamicPattern } from 'tinyglobby'
import { escapePattern } from '../../../src/versions/files/expand-pattern.js'
import { findSourceFiles } from '../../../src/versions/files/source-files.js'
import { FileError } from '../../../src/versions/opener.js'
import {
  datasetOf,
  makeCatalogFolder,
  versionOf,
} from '../../catalog/live/fixtures/catalog-folder.js'
import { asUser, openFolder } from '../../support/as-user.js'
import { writeParquet } from '../../support/parquet.js'

async function namesIn(folder: string, ...patterns: readonly string[]): Promise<readonly string[]> {
  const files = await findSourceFiles(folder, patterns, new Map())
  return files.map((file) => file.name)
}

async function refusal(folder: string, pattern: string): Promise<string> {
  try {
    await findSourceFiles(folder, [pattern], new Map())
  } catch (cause) {
    if (cause instanceof FileError) return cause.reason
    throw cause
  }
  return ''
}

await t.test('files are in the order of the patterns, the matches of each by name', async (t) => {
  const folder = t.testdir({})
  const names = [
    'b/2.parquet',
    'b/10.parquet',
    'a.parquet',
    'b/deep/x.parquet',
    'c/.hidden.parquet',
  ]
  await writeParquet(folder, Object.fromEntries(names.map((name) => [name, 'SELECT 1 AS x'])))
  writeFileSync(join(folder, 'b', 'notes.txt'), 'no Parquet')
  t.same(await namesIn(folder, 'b/*.parquet'), ['b/10.parquet', 'b/2.parquet'])
  t.same(await namesIn(folder, 'b/2.parquet', 'b/*.parquet', 'a.parquet'), [
    'b/2.parquet',
    'b/10.parquet',
    'a.parquet',
  ])
  t.same(await namesIn(folder, '**/*.parquet'), [
    'a.parquet',
    'b/10.parquet',
    'b/2.parquet',
    'b/deep/x.parquet',
  ])
  t.same(await namesIn(folder, join(folder, 'a.parquet')), ['a.parquet'], 'an absolute path')
  t.same(await namesIn(join(folder, 'b'), '../a.parquet', join(folder, '*.parquet')), [
    '../a.parquet',
  ])
})

await t.test('a file in a folder that can not be entered is not called absent', async (t) => {
  const folder = openFolder(t)
  mkdirSync(join(folder, 'closed'))
  writeFileSync(join(folder, 'closed/a.parquet'), '')
  chmodSync(join(folder, 'closed'), 0)
  const reasons = await asUser(folder, async () => [
    await refusal(folder, 'closed/a.parquet'),
    await refusal(folder, 'closed/*.parquet'),
    await refusal(folder, 'a.parquet'),
    await refusal(folder, 'a.parquet/b.parquet'),
    await refusal(folder, `${'a'.repeat(300)}.parquet`),
    await refusal(folder, `{${'a,'.repeat(300)}}.parquet`),
  ])
  chmodSync(join(folder, 'closed'), 0o700)
  const [closed, absent] = ["can't be read (EACCES)", 'is not there']
  const nothing = 'matches no file; its folder has "closed"'
  t.same(reasons, [closed, closed, absent, absent, absent, nothing])
})

await t.test('a pattern that matches nothing says what is there instead', async (t) => {
  const folder = t.testdir({
    in: { 'A.PARQUET': '', 'b.csv': '', 'c.pq': '', 'd\u202e': '', _e: '' },
  })
  const nothing = (rest: string) => `matches no file; its folder has ${rest}`
  t.equal(await refusal(folder, 'in/*.parquet'), nothing('"A.PARQUET", "b.csv", "c.pq" and 1 more'))
  t.equal(
    await refusal(join(folder, 'in'), 'd*.parquet'),
    nothing('"A.PARQUET", "b.csv", "c.pq" and 1 more'),
  )
  rmSync(join(folder, 'in/b.csv'))
  t.equal(await refusal(folder, 'in/*.parquet'), nothing('"A.PARQUET", "c.pq", "d\\u202e"'))
  t.equal(await refusal(folder, 'in/*/b.parquet'), 'matches no file')
  for (const name of ['A.PARQUET', 'c.pq', 'd\u202e']) rmSync(join(folder, 'in', name))
  t.equal(
    await refusal(folder, 'in/*.parquet'),
    'matches no file; names that begin with "_" or "." are left out',
  )
})

await t.test('a file is found by its exact name, even if its letters form a glob', async (t) => {
  const folder = t.testdir({})
  const names = [
    '[2024].parquet',
    'a (1).parquet',
    '{a,b}.parquet',
    'x*.parquet',
    '!no.parquet',
    '+(x).parquet',
    'год ₽.parquet',
    "it's?.parquet",
    'sub [1]/(y).parquet',
  ]
  await writeParquet(folder, { 'plain.parquet': 'SELECT 1 AS x' })
  mkdirSync(join(folder, 'sub [1]'))
  for (const name of names) {
    writeFileSync(join(folder, name), readFileSync(join(folder, 'plain.parquet')))
  }
  for (const name of names) t.same(await namesIn(folder, name), [name])
  t.same(await namesIn(folder, 'sub \\[1\\]/*.parquet'), ['sub [1]/(y).parquet'])
})

await t.test(
  'an existing folder is matched by its exact name, and only the rest is a glob',
  async (t) => {
    const folder = t.testdir({})
    const names = ['y[1]/a.parquet', 'y[1]/!b.parquet', 'y1/c.parquet', 'back\\[2]/d.parquet']
    await writeParquet(folder, Object.fromEntries(names.map((name) => [name, 'SELECT 1 AS x'])))
    t.same(await namesIn(folder, 'y[1]/*.parquet'), ['y[1]/!b.parquet', 'y[1]/a.parquet'])
    t.same(await namesIn(folder, 'y[1]/!*.parquet'), ['y[1]/!b.parquet'])
    t.same(await namesIn(folder, 'y\\[1\\]/a.parquet'), ['y[1]/a.parquet'])
    t.same(await namesIn(folder, 'y[0-9]/*.parquet'), ['y1/c.parquet'])
    t.same(await namesIn(join(folder, 'y[1]'), '*.parquet'), ['!b.parquet', 'a.parquet'])
    t.same(await namesIn(folder, 'back\\[2]/d.parquet'), ['back\\[2]/d.parquet'])
    t.match(await refusal(folder, 'back\\[2]/*.parquet'), /list its files by name$/)
    for (const name of [
      'y[1]/a.parquet',
      'a b.parquet',
      '{a,b}!.parquet',
      'back\\[2]/d.parquet',
      '+(a)',
    ]) {
      t.notOk(isDynamicPattern(escapePattern(name)), name)
      t.equal(escapePattern(name) === name, name === 'a b.parquet')
    }
  },
)

await t.test(
  'each kind of file that is not complete Parquet has its own error, without a path',
  async (t) => {
    const folder = t.testdir({ 'garbage.parquet': 'This is a text file, not Parquet at all.' })
    await writeParquet(folder, { 'good.parquet': 'SELECT i FROM range(10000) r(i)' })
    const good = readFileSync(join(folder, 'good.parquet'))
    const write = (name: string, content: Uint8Array) => writeFileSync(join(folder, name), content)
    write('empty.parquet', Buffer.alloc(0))
    write('tiny.parquet', Buffer.from('PAR1'))
    write('truncated.parquet', good.subarray(0, good.length / 2))
    write('encrypted.parquet', Buffer.concat([good.subarray(0, -4), Buffer.from('PARE')]))
    write('zip.parquet', Buffer.from('PK\x03\x04'))
    write('lfs.parquet', Buffer.from('version https://git-lfs.github.com/spec/v1\n'))
    const cut = Buffer.from(good)
    cut.writeUInt32LE(good.length, good.length - 8)
    write('cut.parquet', cut)
    mkdirSync(join(folder, 'folder'))
    symlinkSync('nowhere', join(folder, 'broken.parquet'))
    const reasons = {
      'garbage.parquet': 'is not a whole Parquet file (no PAR1 at its end)',
      'zip.parquet': 'is a zip archive; unpack it',
      'lfs.parquet': 'is a pointer of Git LFS, not the file; fetch it: git lfs pull',
      'empty.parquet': 'is empty (0 bytes)',
      'tiny.parquet': 'is not a whole Parquet file (no PAR1 at its end)',
      'truncated.parquet': 'is not a whole Parquet file (no PAR1 at its end)',
      'encrypted.parquet': 'is encrypted Parquet, which is not supported',
      'cut.parquet': 'is not a whole Parquet file (its footer is cut)',
      'absent.parquet': 'is not there',
      'absent/*.parquet': 'matches no file: no folder "absent"',
      'folder/*.parquet': 'matches no file: its folder is empty',
      'broken.parquet': 'is not there',
      folder: 'is a folder: add /*.parquet',
      'good.parquet': '',
    }
    for (const [name, reason] of Object.entries(reasons)) {
      t.equal(await refusal(folder, name), reason, name)
    }
  },
)

await t.test('a dataset whose file is bad has a reason; the others are served', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: {
      'good/1.parquet': 'SELECT 1 AS x',
      'page/1.parquet': 'SELECT i, hash(i) AS h FROM range(2000) r(i)',
      'footer/1.parquet': 'SELECT 1 AS x',
    },
    texts: { 'empty/1.parquet': '', 'garbage/1.parquet': 'no Parquet at all, but long enough' },
  })
  const page = readFileSync(join(fixture.folder, 'page/1.parquet'))
  fixture.write('page/1.parquet', page.fill(0xff, 4, 4000))
  const footer = readFileSync(join(fixture.folder, 'footer/1.parquet'))
  const footerStart = footer.length - 8 - footer.readUInt32LE(footer.length - 8)
  fixture.write('footer/1.parquet', footer.fill(0xee, footerStart, footer.length - 8))
  const names = ['empty', 'garbage', 'page', 'footer', 'missing', 'good']
  const entry = (name: string) => `  ${name}: {title: x, files: "${name}/*.parquet"}\n`
  fixture.writeRegistry(`datasets:\n${names.map(entry).join('')}`)
  for (const catalog of [await fixture.open(), await fixture.check()]) {
    t.same([...catalog.datasets.keys()], names, "in the registry's order")
    const reason = (name: string) => datasetOf(catalog, name).reason ?? ''
    t.equal(reason('empty'), 'empty/1.parquet is empty (0 bytes)')
    t.match(reason('garbage'), /^garbage\/1\.parquet is not a whole Parquet file/)
    t.match(reason('page'), /^page\/1\.parquet has a column that can't be read, "i": /)
    t.match(reason('footer'), /^footer\/1\.parquet can't be read: /)
    t.equal(reason('missing'), 'missing/*.parquet matches no file: no folder "missing"')
    t.equal(versionOf(catalog, 'good').rows, 1)
    for (const name of names) {
      t.notMatch(reason(name), fixture.folder, 'no absolute path')
      t.equal(datasetOf(catalog, name).version === null, name !== 'good')
    }
  }
})

await t.test('a file without rows is served: its columns count, its rows do not', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: {
      'data/1.parquet': 'SELECT 1 AS year, 2 AS x WHERE false',
      'data/2.parquet': 'SELECT 2024 AS year, 3 AS y',
    },
    registry: '    history: year',
  })
  const version = versionOf(await fixture.open())
  t.equal(version.rows, 1)
  t.equal(version.newestHistory, 2024n)
  t.same(
    version.columns.map((column) => column.name),
    ['year', 'x', 'y'],
  )
})

await t.test('a symbolic link is served from the file behind it', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'store/v1.parquet': 'SELECT 7 AS x' },
    registry: '    follow_links: true',
  })
  mkdirSync(join(fixture.folder, 'data'))
  symlinkSync('../store/v1.parquet', join(fixture.folder, 'data/current.parquet'))
  for (const catalog of [await fixture.open(), await fixture.check()]) {
    const version = versionOf(catalog)
    t.equal(version.rows, 1)
    t.equal(version.files[0]?.name, 'data/current.parquet')
  }
  rmSync(join(fixture.folder, 'data/current.parquet'))
  symlinkSync('../store/v2.parquet', join(fixture.folder, 'data/current.parquet'))
  t.equal(
    datasetOf(await fixture.open()).reason,
    'data/*.parquet matches no file; its folder has "current.parquet"',
  )
})

await t.test('known content is not read again', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { '1.parquet': 'SELECT 1 AS x' })
  const [first] = await findSourceFiles(folder, ['1.parquet'], new Map())
  if (!first) throw new Error('no file')
  const remembered = 'f'.repeat(64)
  const known = new Map([[first.identity, remembered]])
  const [again] = await findSourceFiles(folder, ['1.parquet'], known)
  t.equal(again?.contentHash, remembered)
  utimesSync(join(folder, '1.parquet'), 1, 1)
  const [touched] = await findSourceFiles(folder, ['1.parquet'], known)
  t.equal(touched?.contentHash, first.contentHash, 'a touched file is read again')
})

await t.test('the hash covers the whole content', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'big.parquet': 'SELECT hash(i) AS h FROM range(300000) r(i)' })
  const path = join(folder, 'big.parquet')
  const [file] = await findSourceFiles(folder, ['big.parquet'], new Map())
  t.ok(readFileSync(path).length > 2 ** 21, 'more than one piece')
  t.equal(file?.contentHash, createHash('sha256').update(readFileSync(path)).digest('hex'))
})
