import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { damagePage } from '../../support/parquet.js'
import { buildThings, checksOf } from '../fixtures/checked.js'

const entry = '    key: id\n    demo: {id: [2]}\n'
const select = (from: number) =>
  `SELECT i AS id, 'text ' || hash(i) AS word, i * 2 AS x FROM range(${from}, ${from + 5000}) t(i)`
const files = { 'a.parquet': select(0), 'b.parquet': select(5000), 'c.parquet': select(10_000) }
const writing = ', ROW_GROUP_SIZE 2048'

/** The place of a damaged second page. */
const place = (file: string, column: string) =>
  new RegExp(`${file}\\.parquet .*"${column}", from row 2048 on .*; the file is damaged; copy or`)

await t.test('a file with a damaged page is refused, and it is said where it is', async (t) => {
  const cli = await buildThings(t, files, { entry, writing })
  await damagePage(join(cli.folder, 'data', 'b.parquet'), 'x', 1)
  const { code, stdout, stderr } = await cli.das(['dataset', 'check', '--deep'])
  t.equal(code, 1)
  t.match(stderr, /error: 1 of 1 datasets can't be served\.\n$/)
  t.match(stdout, place('data/b', 'x'))
  t.notMatch(stdout, cli.folder)
  t.notMatch(stdout, 'SELECT')
  t.notMatch(stdout, 'the demo subset', 'a damaged dataset is not counted')
})

await t.test('every damaged file is reported beside the other findings', async (t) => {
  const odd = select(0).replace('i * 2 AS x', "i * 2 AS x, 'NaN'::FLOAT AS y")
  const cli = await buildThings(t, { ...files, 'd.parquet': odd }, { entry, writing })
  await damagePage(join(cli.folder, 'data', 'a.parquet'), 'x', 2)
  await damagePage(join(cli.folder, 'data', 'c.parquet'), 'id', 1)
  const [check] = await checksOf(cli, ['--deep'])
  t.equal(check?.status, 'refused')
  t.match(
    check?.findings.map(({ code, message }) => `${code}: ${message}`),
    [
      /^refused: data\/a\.parquet .*"x", from row 4096 on/,
      /^refused: data\/c\.parquet .*"id", from row 2048 on/,
      /^columns_missing: /,
    ],
  )
})

await t.test('a file that cannot be opened does not hide the others', async (t) => {
  const good = select(0).replace('i * 2 AS x', "i * 2 AS x, 'NaN'::FLOAT AS y")
  const cli = await buildThings(t, { ...files, 'd.parquet': good }, { entry })
  const bad = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(20, 7), Buffer.from('\0\0\0\0PAR1')])
  for (const name of ['a', 'c']) writeFileSync(join(cli.folder, 'data', `${name}.parquet`), bad)
  const [check] = await checksOf(cli)
  t.equal(check?.status, 'refused')
  const lines = check?.findings.map(({ code, message }) => `${code}: ${message}`) ?? []
  t.match(lines, [
    /^refused: data\/a\.parquet can't be read/,
    /^refused: data\/c\.parquet can't be read/,
    /^columns_missing: .*"y" in 1 of 2 files/,
    /^not_finite: .*"y"/,
  ])
  t.notMatch(lines.join('\n'), cli.folder)
})

await t.test('progress is printed on stderr, but not with --json', async (t) => {
  const cli = await buildThings(t, files, { entry, writing })
  const person = await cli.das(['dataset', 'check', '--deep'], { isTerminal: true })
  t.match(person.stderr, /things: \[[#.]{20}\] \d+ % \([\d\u202f]+ of 15\u202f000 rows/)
  t.ok(person.stderr.endsWith('\u001b[2K'), 'the bar is taken away')
  t.equal((await cli.das(['dataset', 'check', '--deep', '--json'])).stderr, '')
  t.equal((await cli.das(['dataset', 'check', '--deep'])).stderr, '', 'it took no ten seconds')
})

await t.test('a signal stops the check, and no file is left behind', async (t) => {
  const cli = await buildThings(t, files, { entry })
  const signal = AbortSignal.abort(new Error('Stopped by SIGINT.'))
  const { code, stdout, stderr } = await cli.das(['dataset', 'check', '--deep'], { signal })
  t.same({ code, stdout, stderr }, { code: 1, stdout: '', stderr: 'error: Stopped by SIGINT.\n' })
})
