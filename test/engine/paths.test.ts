import { mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bindPaths, isPattern, pathsSql, targetSql } from '../../src/engine/duckdb/paths.js'
import { PlainPaths } from '../../src/engine/duckdb/plain-paths.js'
import { runStatement } from '../../src/engine/duckdb/run-statement.js'
import { startInstance } from '../../src/engine/duckdb/sandbox.js'
import { FileError } from '../../src/versions/opener.js'
import { writeParquet } from '../support/parquet.js'
import { openFiles } from './fixtures/open-file.js'

// Guarantee: a path means one file, whatever its letters mean to DuckDB.

const folder = 'src/engine/duckdb'
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
const lines = names
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .map((line, index) => ({ name, line, place: `${name}:${index + 1}: ${line.trim()}` })),
  )

await t.test('only paths.ts makes SQL, or a value to bind, of a path', (t) => {
  // A list of files is `$1` or comes from paths.ts; so is the target of a COPY.
  const reader = /(read_parquet|parquet_\w*(?:metadata|schema))\((?!\$1[,)]|\$\{pathsSql\()/
  const target = /\bTO (?!\$2 |\$\{targetSql\()/
  const bound = /\b(bindTexts?|literal)\(.*(path|plan\b|folder|target)/i
  const breaks = ({ name, line }: (typeof lines)[number]) =>
    name !== 'paths.ts' &&
    !/^\s*(\/\/|\/?\*)/.test(line) &&
    (reader.test(line) || target.test(line) || bound.test(line) || /\b(glob|ATTACH)\b/.test(line))
  t.same(
    lines.filter(breaks).map(({ place }) => place),
    [],
  )
  const readers = lines.filter(
    ({ name, line }) =>
      name !== 'paths.ts' && /boundFilesSql\(|read_parquet\(|parquet_\w*(data|schema)\(/.test(line),
  )
  const names = new Set(readers.map(({ name }) => name))
  for (const name of names) {
    const own = lines.filter((each) => each.name === name).map(({ line }) => line)
    t.match(own.join('\n'), /import \{.*\b(bindPaths|pathsSql)\b.*\} from '\.\.?\/paths\.js'/, name)
  }
  t.ok(names.size >= 8)
  t.end()
})

await t.test('a pattern is never read', (t) => {
  for (const path of ['/a*', '/a?', '/[a', '/a[1]/b']) {
    t.throws(() => bindPaths(['/a', path]), RangeError)
    t.throws(() => pathsSql(['/a', path]), RangeError)
  }
  t.equal(pathsSql(["/it's", '/b']), "['/it''s', '/b']")
  t.end()
})

await t.test(
  'DuckDB takes *, ? and [ for a pattern, and every other letter as it is',
  async (t) => {
    const parent = t.testdir({})
    const letters = Array.from({ length: 127 }, (_, code) => String.fromCharCode(code))
    const instance = await startInstance({
      folders: [parent],
      tempFolder: null,
      memoryLimitBytes: 128 * 1024 ** 2,
      threads: 1,
    })
    t.teardown(() => {
      instance.closeSync()
    })
    const connection = await instance.connect()
    const ask = (sql: string) =>
      runStatement(connection, { sql, values: [] }, AbortSignal.timeout(60_000))
    for (const letter of ['', ...letters.slice(1), 'ж', '😀', '{x,y}']) {
      if (letter === '/' || letter === 'x' || isPattern(letter)) continue
      const path = join(parent, `p${letter}.parquet`)
      await ask(`COPY (SELECT 'right' AS x) TO ${targetSql(path)} (FORMAT parquet)`)
      await ask(`COPY (SELECT 'other' AS x) TO '${parent}/px.parquet' (FORMAT parquet)`)
      const found = await ask(`SELECT x, filename FROM read_parquet(${pathsSql([path])})`)
      t.same(found, [['right'], [path]], JSON.stringify(letter))
    }
    for (const letter of ['*', '?', '[x]']) {
      await ask(
        `COPY (SELECT 'right' AS x) TO ${targetSql(`${parent}/c${letter}`)} (FORMAT parquet)`,
      )
      t.ok(readdirSync(parent).includes(`c${letter}`), 'written under its own name')
    }
  },
)

await t.test('a path without pattern letters is unchanged; a pattern becomes a link', async (t) => {
  const parent = t.testdir({})
  const names = ['a[1]/b/c.parquet', 'a[1]/b/d*.parquet', 'a[1]/e\\[f].parquet']
  await writeParquet(parent, Object.fromEntries(names.map((name) => [name, `SELECT '${name}' x`])))
  const plain = new PlainPaths()
  t.equal(plain.of('/plain/{a} \\!.parquet'), '/plain/{a} \\!.parquet')
  const links = names.map((name) => plain.of(join(parent, name)))
  for (const [index, link] of links.entries()) {
    t.notOk(isPattern(link), link)
    t.same(readFileSync(link), readFileSync(join(parent, names[index] ?? '')))
  }
  t.same(
    links,
    names.map((name) => plain.of(join(parent, name))),
    'linked once',
  )
  t.match(links[0], /\/das-links-\w+\/0\/b\/c\.parquet$/, 'a folder is linked, not its files')
  const [, second = ''] = links
  const own = join(parent, names[1] ?? '')
  t.match(plain.inOwnNames(new FileError(second, 'is bad')), { path: own, reason: 'is bad' })
  t.equal((plain.inOwnNames(new Error(`no ${second}!`)) as Error).message, `no ${own}!`)
  const json = `{"exception_type":"IO","exception_message":"no ${links[2]}"}`
  const restored = (plain.inOwnNames(new Error(json)) as Error).message
  t.equal(
    (JSON.parse(restored) as Record<string, string>)['exception_message'],
    `no ${parent}/${names[2]}`,
  )
  plain.close()
  t.throws(() => readFileSync(second), { code: 'ENOENT' })
  t.ok(readFileSync(own).length > 0, 'what was linked is left')
})

await t.test('a file that can not be read is named by its own name', async (t) => {
  const parent = t.testdir({ 'bad[1].parquet': 'no Parquet at all', 'bad1.parquet': '' })
  await writeParquet(parent, { 'bad1.parquet': 'SELECT 1 AS x' })
  const path = join(parent, 'bad[1].parquet')
  const failure = await openFiles([path], []).catch((cause: unknown) => cause)
  t.match(failure, { name: 'FileError', path, reason: /^can't be read: .*the file/ })
  t.notMatch((failure as FileError).reason, /das-links|\/0/)
})

await t.test(
  'files of one batch are opened by their own names, beside those they match',
  async (t) => {
    const parent = t.testdir({})
    const rows = (n: number) => `SELECT range AS k FROM range(${n})`
    const files = {
      'r[1].parquet': rows(1),
      'r1.parquet': rows(2),
      'r?.parquet': rows(3),
      'h[x]/r*.parquet': rows(4),
      'hx/r.parquet': rows(5),
    }
    await writeParquet(parent, files)
    mkdirSync(join(parent, 'q'))
    renameSync(join(parent, 'hx'), join(parent, 'q', 'hx'))
    const names = ['r[1].parquet', 'r?.parquet', 'h[x]/r*.parquet', 'r1.parquet']
    const opened = await openFiles(
      names.map((name) => join(parent, name)),
      ['k'],
    )
    t.same(
      opened.map(({ rows: count, bounds }) => [count, bounds.get('k')]),
      [1, 3, 4, 2].map((n) => [n, { min: '0', max: String(n - 1), isFull: true }]),
    )
  },
)
