import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ServerLock } from '../../../src/control/store/server-lock.js'
import { writeParquet } from '../../support/world.js'
import { buildCliFixture, registryText } from '../fixtures/cli-fixture.js'

const pack = ['dataset', 'pack', 'financials']
const versionsOf = (folder: string) => join(folder, 'var', 'versions', 'financials')

await t.test('pack makes a copy in the state folder and changes nothing else', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const { code, stdout, stderr } = await das(pack)
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(
    stdout,
    /^financials: 40 rows in 1 file, [\d.]+ kB → [\d.]+ k?B, in [\d.]+ s; every cell was compared\.\n/,
  )
  t.match(stdout, 'serves the copy within seconds, another at its next start.\n')
  const [copy = '', ...others] = readdirSync(versionsOf(folder))
  t.same(others, [])
  t.same(readdirSync(join(versionsOf(folder), copy)), ['000000.parquet', 'pack.json'])
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
  const again = await das([...pack, '--json'])
  t.same(JSON.parse(again.stdout), {
    ...(JSON.parse(again.stdout) as object),
    name: 'financials',
    folder: join(versionsOf(folder), copy),
    files: 1,
  })
})

await t.test(
  'what root packs belongs to the user of the state folder',
  { skip: process.geteuid?.() !== 0 && 'needs root' },
  async (t) => {
    const { das, folder } = await buildCliFixture(t)
    mkdirSync(join(folder, 'var'), { recursive: true, mode: 0o700 })
    chownSync(join(folder, 'var'), 12_345, 54_321)
    t.equal((await das(pack, { signal: AbortSignal.abort() })).code, 1)
    const owned = (when: string) => {
      const names = readdirSync(join(folder, 'var'), { recursive: true, encoding: 'utf8' })
      for (const name of names) {
        const { uid, gid, mode } = statSync(join(folder, 'var', name))
        t.same({ uid, gid }, { uid: 12_345, gid: 54_321 }, `${when}: ${name}`)
        const isFolder = statSync(join(folder, 'var', name)).isDirectory()
        if (isFolder) t.equal(mode & 0o777, 0o700, `${when}: ${name}`)
      }
      return names.length
    }
    t.ok(owned('unfinished') > 4)
    t.equal((await das(pack)).code, 0)
    t.ok(owned('finished') > 4)
    const [copy = ''] = readdirSync(versionsOf(folder))
    t.same(readdirSync(join(versionsOf(folder), copy)), ['000000.parquet', 'pack.json'])
  },
)

await t.test('--to writes the copy for other tools; --json prints one object', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const to = join(folder, 'elsewhere', '..', 'fast')
  const argv = [...pack, '--to', to, '--json']
  const { code, stdout, stderr } = await das(argv, { isTerminal: true })
  t.same({ code, stderr }, { code: 0, stderr: '' })
  const said = JSON.parse(stdout) as Record<string, unknown>
  t.same(Object.keys(said), [
    ...['name', 'folder', 'files', 'rows', 'bytes_before', 'bytes_after'],
    ...['search', 'seconds'],
  ])
  t.match(said, { name: 'financials', folder: join(folder, 'fast'), files: 1, rows: 40 })
  t.notOk(existsSync(versionsOf(folder)))
  t.match(await das(argv.slice(0, -1)), {
    stdout: 'The files are in fast/; the server does not use them.\n',
  })
})

await t.test('a copy beyond the disk limit is refused, but not one for other tools', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  mkdirSync(join(folder, 'var', 'objects'), { recursive: true })
  writeFileSync(join(folder, 'var', 'objects', 'full.parquet'), Buffer.alloc(1_000_000))
  const environment = { DAS_DISK_LIMIT: '1MB' }
  t.match(await das(pack, { environment }), {
    code: 1,
    stderr:
      /The packed copy needs [\d,]+ bytes of disk, but only 0 of --disk-limit are left beside what is stored\./,
  })
  t.notOk(existsSync(versionsOf(folder)))
  t.equal((await das([...pack, '--to', join(folder, 'fast')], { environment })).code, 0)
})

await t.test('on a terminal a bar is shown and removed at the end', async (t) => {
  const { das } = await buildCliFixture(t)
  const { stdout, stderr } = await das(pack, { isTerminal: true })
  const lines = stderr.split('\r\u001b[2K')
  t.equal(lines[1], 'sorting: [....................] 0 % (0 of 40 rows)')
  t.equal(lines.at(-1), '')
  t.match(stdout, /^financials: 40 rows/)
})

await t.test('a dataset without a key is packed with a warning: not sorted', async (t) => {
  const { das } = await buildCliFixture(t)
  const { code, stderr } = await das(['dataset', 'pack', 'procurement'])
  t.equal(code, 0)
  t.match(
    stderr,
    /^warning: "procurement" has no key in the registry, so its rows are not sorted; /,
  )
})

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
})

await t.test('a folder that cannot be written is reported with what to do', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  t.same(await das([...pack, '--to', join(folder, 'registry.yaml', 'x')]), {
    code: 1,
    stdout: '',
    stderr: "error: registry.yaml/x/ can't be written (ENOTDIR). Name another folder with --to.\n",
  })
  writeFileSync(join(folder, 'var'), '')
  const { code, stderr } = await das(pack)
  t.equal(code, 1)
  t.match(stderr, /can't be written \(ENOTDIR\)\. Run the command as the user of the server\.\n$/)
})

await t.test('Ctrl-C leaves a draft, and the next run continues', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const stopped = await das(pack, { signal: AbortSignal.abort() })
  t.equal(stopped.code, 1)
  t.equal(
    stopped.stderr,
    'error: Stopped. The finished files are kept; run the same command to continue.\n',
  )
  const [draft = ''] = readdirSync(versionsOf(folder))
  t.match(draft, /\.draft$/)
  t.ok(existsSync(join(versionsOf(folder), draft, 'pack.json')))

  const lock = ServerLock.take(join(versionsOf(folder), draft, 'lock'))
  t.match(await das(pack), {
    code: 1,
    stderr: 'error: Another process is packing "financials" already. It goes on; wait for it.\n',
  })
  lock.release()
  t.equal((await das(pack)).code, 0)
  t.same(readdirSync(versionsOf(folder)), [draft.replace('.draft', '')])
})

await t.test('a running server serves the copy, and the next one does', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const stored = async () => {
    const { stdout } = await das(['dataset', 'list', '--json'])
    const list = JSON.parse(stdout) as { name: string; stored: string; status: string }[]
    return list.find(({ name }) => name === 'financials')
  }
  const lost = /^the packed copy was of other files: das dataset pack financials makes one/
  await das(['serve'], {
    whileServing: async () => {
      t.equal((await das(pack)).code, 0)
      t.equal((await das(['dataset', 'reload'])).code, 0)
      t.match(await stored(), { status: 'serving', stored: 'packed' })
    },
  })
  const [copy] = readdirSync(versionsOf(folder)).filter((name) =>
    existsSync(join(versionsOf(folder), name, 'pack.json')),
  )
  t.ok(copy, 'kept by a server that serves it')
  await das(['serve'], {
    whileServing: async () => {
      t.match(await stored(), { status: 'serving', stored: 'packed' })
      await writeParquet(folder, {
        'data/financials/2025.parquet': `SELECT '0' AS inn, 2025 AS year, 'Company' AS name, CAST(1 AS BIGINT) AS "2110"`,
      })
      t.equal((await das(['dataset', 'reload'])).code, 0)
      t.match(await stored(), { status: 'serving', stored: 'copied', warnings: [lost] })
      t.equal((await das(pack)).code, 0)
      t.equal((await das(['dataset', 'reload'])).code, 0)
      t.match(await stored(), { status: 'serving', stored: 'packed', warnings: [] })
    },
  })
})

await t.test('a dataset that cannot be served is not packed, with the reason', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  writeFileSync(join(folder, 'data', 'financials', '2024.parquet'), 'PAR1 and no more')
  const { code, stderr } = await das(pack)
  t.equal(code, 1)
  t.match(stderr, /^error: "financials" can't be packed: data\/financials\/2024\.parquet is not/)
})
