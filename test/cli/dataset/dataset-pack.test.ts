import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildCliFixture, registryText } from '../fixtures/cli-fixture.js'

const pack = ['dataset', 'pack', 'financials']

await t.test(
  'pack writes beside the source and changes the registry to the new files',
  async (t) => {
    const { das, folder } = await buildCliFixture(t, `# our data\n${registryText}`)
    const { code, stdout, stderr } = await das(pack)
    t.same({ code, stderr }, { code: 0, stderr: '' })
    t.match(
      stdout,
      /^financials: 40 rows in 1 file, [\d.]+ kB → [\d.]+ k?B, in [\d.]+ s; every cell was compared\.\n/,
    )
    t.match(
      stdout,
      'now has files: data/financials-packed/*.parquet; the source files are unchanged.\n',
    )
    t.match(stdout, 'To undo this, write: files: data/financials/*.parquet\n')
    const target = join(folder, 'data', 'financials-packed')
    t.same(readdirSync(target), ['000000.parquet', 'pack.json'])
    const registry = readFileSync(join(folder, 'registry.yaml'), 'utf8')
    const wanted = registryText.replace('data/financials/*', 'data/financials-packed/*')
    t.equal(registry, `# our data\n${wanted}`, 'every other byte is unchanged')
    t.match(await das(['dataset', 'check', 'financials']), {
      code: 0,
      stdout: 'financials: ok (40 rows, 4 columns, 1 file)\n',
    })
    const again = await das(pack)
    t.equal(again.code, 2)
    t.match(again.stderr, /^error: "financials" is already served from a packed folder \(data\/f/)
  },
)

await t.test('--no-switch does not change the registry; --json prints one object', async (t) => {
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
})

await t.test('on a terminal a bar is shown and removed at the end', async (t) => {
  const { das } = await buildCliFixture(t)
  const { stdout, stderr } = await das(pack, { isTerminal: true })
  const lines = stderr.split('\r\u001b[2K')
  t.equal(lines[1], 'sorting: [....................] 0 % (0 of 40 rows)')
  t.equal(lines.at(-1), '')
  t.match(stdout, /^financials: 40 rows/)
})

await t.test(
  'a dataset without a key is packed with a warning that rows are not sorted',
  async (t) => {
    const { das, folder } = await buildCliFixture(t)
    const { code, stderr } = await das(['dataset', 'pack', 'procurement'])
    t.equal(code, 0)
    t.match(
      stderr,
      /^warning: "procurement" has no key in the registry, so its rows are not sorted; /,
    )
    t.ok(existsSync(join(folder, 'data-packed', '000000.parquet')), 'beside the file’s folder')
  },
)

await t.test('a folder of sources or of other files is refused as wrong usage', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const inside = await das([...pack, '--to', join(folder, 'data', 'financials')])
  t.equal(inside.code, 2)
  t.match(
    inside.stderr,
    /files match the folder data\/financials\/\. Name another folder with --to/,
  )
  const taken = await das([...pack, '--to', join(folder, 'data')])
  t.equal(taken.code, 2)
  t.match(taken.stderr, /^error: data\/ exists and is not a pack of "financials"\. Name/)
  const unknown = await das(['dataset', 'pack', 'financial'])
  t.equal(unknown.code, 2)
  t.match(unknown.stderr, /Did you mean "financials"\?/)
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
})

await t.test('a folder that cannot be written is reported with what to do', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const { code, stdout, stderr } = await das([...pack, '--to', join(folder, 'registry.yaml', 'x')])
  t.same({ code, stdout }, { code: 1, stdout: '' })
  t.equal(
    stderr,
    "error: registry.yaml/x/ can't be written (ENOTDIR). Name another folder with --to, or write " +
      '`pack: auto` in the entry of "financials": then the server packs it into its state folder.\n',
  )
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
})

await t.test(
  'Ctrl-C leaves a draft and does not change the registry; the next run continues',
  async (t) => {
    const { das, folder } = await buildCliFixture(t)
    const stopped = await das(pack, { signal: AbortSignal.abort() })
    t.equal(stopped.code, 1)
    t.equal(
      stopped.stderr,
      'error: Stopped. The finished files are kept; run the same command to continue.\n',
    )
    t.ok(existsSync(join(folder, 'data', 'financials-packed.draft', 'pack.json')))
    t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
    t.equal((await das(pack)).code, 0)
    t.notOk(existsSync(join(folder, 'data', 'financials-packed.draft')))
  },
)

await t.test('a dataset that cannot be served is not packed, with the reason', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  writeFileSync(join(folder, 'data', 'financials', '2024.parquet'), 'PAR1 and no more')
  const { code, stderr } = await das(pack)
  t.equal(code, 1)
  t.match(stderr, /^error: "financials" can't be packed: data\/financials\/2024\.parquet is not/)
})
