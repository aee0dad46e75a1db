import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import type { CliFixture, Outcome } from '../../cli/fixtures/cli-fixture.js'
import { brokenFiles, servedFiles, strangeFiles, unaskableFiles } from '../../support/odd-files.js'
import { writeParquet } from '../../support/parquet.js'

// Guarantee: whatever file it is given, `das dataset add` writes an entry that is served, or says
// in words for people why not and writes nothing; `das dataset check --deep` gives a verdict on it.

const page = '# ours\ndatasets: {}\n'

interface Verdict {
  readonly name: string
  readonly status: string
  readonly findings: readonly {
    readonly code: string
    readonly level: string
    readonly message: string
  }[]
}

function add({ das, folder }: CliFixture, name: string): Promise<Outcome> {
  const path = join(folder, 'data', `${name}.parquet`)
  return das(['dataset', 'add', path, '--yes', '--no-dictionary', '--name', name])
}

/** What a deep look says of each dataset; it ends with 1 where it refuses any. */
async function checkAll(
  t: Test,
  { das, folder }: CliFixture,
): Promise<ReadonlyMap<string, Verdict>> {
  const { code, stdout, stderr } = await das(['dataset', 'check', '--deep', '--json'])
  t.notMatch(stdout + stderr, folder)
  const verdicts = JSON.parse(stdout) as readonly Verdict[]
  t.equal(code, verdicts.some(({ status }) => status === 'refused') ? 1 : 0)
  return new Map(verdicts.map((verdict) => [verdict.name, verdict]))
}

/** Nothing is written: the page is as it was, and no file came. */
function requireUntouched(t: Test, { folder }: CliFixture, name: string): void {
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), page, name)
  const files = readdirSync(folder).filter((path) => path !== 'data')
  t.strictSame(files, ['registry.yaml'], name)
}

/** Served file → what a deep look warns of. */
const warnings: Readonly<Record<string, readonly string[]>> = {
  no_rows: ['no_rows'],
  floats: ['not_finite'],
  dates: ['history_odd', 'not_finite'],
  decimals: ['rounded_by_readers'],
  // Of which some generators of clients make no program.
  names: ['name_not_ascii'],
  line_break: ['name_not_ascii'],
}

/** A path that is not a regular file → the error text. */
const mistakes: Readonly<Record<string, string>> = {
  folder: 'has no .parquet file',
  dangling: 'does not exist',
  loop: 'does not exist',
  pipe: 'is not a regular file',
  missing: 'does not exist',
}

/** A few of the codecs stand for all. */
const codecs = /^(uncompressed|snappy|gzip|zstd|lz4_raw|brotli)_v[12]$/
const addedNames = Object.keys(servedFiles).filter(
  (name) => !codecs.test(name) || ['zstd_v1', 'snappy_v2'].includes(name),
)

await t.test('unusual files that can be served are added and pass a deep check', async (t) => {
  const cli = await buildCliFixture(t, page, {})
  for (const name of addedNames) {
    const [select = '', writing = ''] = servedFiles[name] ?? []
    await writeParquet(join(cli.folder, 'data'), { [`${name}.parquet`]: select }, writing)
    const { code, stdout, stderr } = await add(cli, name)
    t.equal(code, 0, `${name}: ${stderr}`)
    t.match(stdout, /^Added to registry\.yaml:/, name)
  }
  const verdicts = await checkAll(t, cli)
  t.strictSame([...verdicts.keys()], addedNames)
  for (const [name, { status, findings }] of verdicts) {
    const codes = findings.filter(({ level }) => level === 'warning').map(({ code }) => code)
    t.strictSame(codes, warnings[name] ?? [], name)
    t.equal(status, warnings[name] ? 'warning' : 'ok', name)
  }
})

/** A fixture with every unusual file that can't be served; dataset → why not. */
async function buildBroken(t: Test): Promise<{ cli: CliFixture; reasons: Map<string, RegExp> }> {
  const select = `SELECT i AS id, 'name ' || i AS name FROM range(1000) t(i)`
  const cli = await buildCliFixture(t, page, { 'data/good.parquet': select })
  const data = join(cli.folder, 'data')
  const whole = readFileSync(join(data, 'good.parquet'))
  const reasons = new Map<string, RegExp>()
  for (const [name, [change, reason]] of Object.entries(brokenFiles)) {
    writeFileSync(join(data, `${name}.parquet`), change(whole))
    reasons.set(name, reason)
  }
  const [columns = '', reason = /^$/] = unaskableFiles['file_row_number'] ?? []
  await writeParquet(data, { 'file_row_number.parquet': columns })
  return { cli, reasons: reasons.set('file_row_number', reason) }
}

await t.test(
  "files that can't be served are refused with the reason, and no file is changed",
  async (t) => {
    const { cli, reasons } = await buildBroken(t)
    for (const [name, reason] of reasons) {
      const { code, stdout, stderr } = await add(cli, name)
      t.equal(code, 1, name)
      t.equal(stdout, '', name)
      const [said = '', why = ''] = stderr.split('\n')
      t.equal(said, `error: "${name}" can't be served, so nothing was written:`)
      t.match(why.trim(), reason, name)
      t.notMatch(stderr, cli.folder)
      requireUntouched(t, cli, name)
    }
    const entries = [...reasons.keys()].map(
      (name) => `  ${name}: {title: Odd, files: data/${name}.parquet}`,
    )
    writeFileSync(join(cli.folder, 'registry.yaml'), `datasets:\n${entries.join('\n')}\n`)
    for (const [name, { status, findings }] of await checkAll(t, cli)) {
      t.equal(status, 'refused', name)
      t.match(findings[0]?.message.replace(/^registry\.yaml:\S+ /, ''), reasons.get(name), name)
    }
  },
)

await t.test('a path that is not a readable file is wrong usage', async (t) => {
  const cli = await buildCliFixture(t, page, {})
  for (const [name, [put]] of Object.entries(strangeFiles)) {
    put(join(cli.folder, 'data', `${name}.parquet`))
    const { code, stderr } = await add(cli, name)
    t.equal(code, 2, name)
    t.match(stderr, `${name}.parquet ${mistakes[name]}`)
    requireUntouched(t, cli, name)
  }
})
