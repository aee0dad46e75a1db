import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildCliFixture, registryText } from '../fixtures/cli-fixture.js'

const pack = ['dataset', 'pack', 'financials']

await t.test('pack writes beside the source, points the registry at it, says so', async (t) => {
  const { das, folder } = await buildCliFixture(t, `# our data\n${registryText}`)
  const { code, stdout, stderr } = await das(pack)
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(
    stdout,
    /^financials: 40 rows in 1 file, [\d.]+ kB → [\d.]+ k?B, in [\d.]+ s; every cell compared\.\n/,
  )
  t.match(stdout, 'now data/financials-packed/*.parquet; the sources are as they were.\n')
  t.match(stdout, 'To go back: files: data/financials/*.parquet\n')
  const target = join(folder, 'data', 'financials-packed')
  t.same(readdirSync(target), ['000000.parquet', 'pack.json'])
  const registry = readFileSync(join(folder, 'registry.yaml'), 'utf8')
  const wanted = registryText.replace('data/financials/*', 'data/financials-packed/*')
  t.equal(registry, `# our data\n${wanted}`, 'every other byte stays')
  t.match(await das(['dataset', 'check', 'financials']), {
    code: 0,
    stdout: 'financials: ok (40 rows, 4 columns, 1 file)\n',
  })
  const again = await das(pack)
  t.equal(again.code, 2)
  t.match(again.stderr, /^error: "financials" is served from a packed folder already \(data\/f/)
})

await t.test(
  '--no-switch leaves the registry; --json is one object and nothing else',
  async (t) => {
    const { das, folder } = await buildCliFixture(t)
    const to = join(folder, 'elsewhere', '..', 'fast')
    const argv = [...pack, '--to', to, '--no-switch', '--json']
    const { code, stdout, stderr } = await das(argv, { isTerminal: true })
    t.same({ code, stderr }, { code: 0, stderr: '' })
    const said = JSON.parse(stdout) as Record<string, unknown>
    t.same(Object.keys(said), [
      ...['name', 'folder', 'files', 'rows', 'bytes_before', 'bytes_after', 'seconds', 'switched'],
    ])
    t.match(said, { name: 'financials', folder: join(folder, 'fast'), files: 1, rows: 40 })
    t.equal(said['switched'], false)
    t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
  },
)

await t.test('a terminal sees a bar that is gone at the end', async (t) => {
  const { das } = await buildCliFixture(t)
  const { stdout, stderr } = await das(pack, { isTerminal: true })
  const lines = stderr.split('\r\u001b[2K')
  t.equal(lines[1], 'sorting: [....................] 0 % (0 of 40 rows)')
  t.equal(lines.at(-1), '')
  t.match(stdout, /^financials: 40 rows/)
})

await t.test('without a key it warns: rows are only cut anew', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const { code, stderr } = await das(['dataset', 'pack', 'procurement'])
  t.equal(code, 0)
  t.match(stderr, /^warning: "procurement" has no key in the registry: it is only cut anew, /)
  t.ok(existsSync(join(folder, 'data-packed', '000000.parquet')), 'beside the file’s folder')
})

await t.test('a folder that is not its own to write into is refused: wrong usage', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const inside = await das([...pack, '--to', join(folder, 'data', 'financials')])
  t.equal(inside.code, 2)
  t.match(inside.stderr, /own pattern looks into data\/financials\/: name another folder, --to F/)
  const taken = await das([...pack, '--to', join(folder, 'data')])
  t.equal(taken.code, 2)
  t.match(taken.stderr, /^error: data\/ is there already and is no pack of "financials": name/)
  const unknown = await das(['dataset', 'pack', 'financial'])
  t.equal(unknown.code, 2)
  t.match(unknown.stderr, /Did you mean "financials"\?/)
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
})

await t.test('a folder that can not be written is named, and what to do instead', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const { code, stdout, stderr } = await das([...pack, '--to', join(folder, 'registry.yaml', 'x')])
  t.same({ code, stdout }, { code: 1, stdout: '' })
  t.equal(
    stderr,
    "error: registry.yaml/x/ can't be written (ENOTDIR). Name another folder, --to FOLDER, or put " +
      '`pack: auto` into the entry of "financials": then the server packs it into its state folder.\n',
  )
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
})

await t.test('Ctrl-C leaves a draft and the registry as it was; again goes on', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const stopped = await das(pack, { signal: AbortSignal.abort() })
  t.equal(stopped.code, 1)
  t.equal(
    stopped.stderr,
    'error: stopped; what is finished is kept: the same command goes on from there\n',
  )
  t.ok(existsSync(join(folder, 'data', 'financials-packed.draft', 'pack.json')))
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
  t.equal((await das(pack)).code, 0)
  t.notOk(existsSync(join(folder, 'data', 'financials-packed.draft')))
})

await t.test('a dataset that can not be served is not packed, and why is said', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  writeFileSync(join(folder, 'data', 'financials', '2024.parquet'), 'PAR1 and no more')
  const { code, stderr } = await das(pack)
  t.equal(code, 1)
  t.match(stderr, /^error: "financials" can't be packed: data\/financials\/2024\.parquet is not/)
})
