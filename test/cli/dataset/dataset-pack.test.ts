import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ServerLock } from '../../../src/control/store/server-lock.js'
import { writeParquet } from '../../support/world.js'
import { buildCliFixture, registryText } from '../fixtures/cli-fixture.js'

const pack = ['dataset', 'pack', 'financials']
const formsOf = (folder: string) => join(folder, 'var', 'versions', 'financials', 'forms')

await t.test('pack makes forms in the state folder and changes nothing else', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const { code, stdout, stderr } = await das(pack)
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(
    stdout,
    /^financials: 40 rows in 2 files, [\d.]+ kB; pages 0 B, rows [\d.]+ kB, in [\d.]+ s; every cell /,
  )
  t.match(stdout, 'uses the forms within seconds, another at its next start.\n')
  const names = readdirSync(formsOf(folder)).map((name) => name.replace(/^[0-9a-f]{32}/, '*'))
  t.same(names.sort(), ['*.rows', '*.rows', 'lock', 'record.json'])
  t.equal(readFileSync(join(folder, 'registry.yaml'), 'utf8'), registryText)
  const again = await das([...pack, '--json'])
  t.match(JSON.parse(again.stdout), {
    name: 'financials',
    files: 2,
    rows: 40,
    forms: [
      { form: 'pages', column: null, bytes: 0 },
      { form: 'rows', column: null },
    ],
  })
  t.match((await das(pack)).stdout, /; its forms are made already: pages 0 B, rows [\d.]+ kB\.\n$/)
})

await t.test('--remove takes the forms away; --to is gone, with a warning', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  await das(pack)
  const lock = ServerLock.take(join(formsOf(folder), 'lock'))
  const refusal =
    'error: "financials" is being packed. Wait until that ends, then remove the forms.\n'
  t.match(await das([...pack, '--remove']), { code: 1, stderr: refusal })
  lock.release()
  const removed = await das([...pack, '--remove'])
  t.match(removed, { code: 0, stdout: /^financials: the forms are removed\./ })
  t.notOk(existsSync(formsOf(folder)))
  t.match(await das([...pack, '--to', join(folder, 'elsewhere')]), {
    code: 0,
    stderr: /^warning: --to is gone and ignored/,
  })
  t.notOk(existsSync(join(folder, 'elsewhere')))
  t.ok(existsSync(formsOf(folder)))
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
    t.ok(owned('unfinished') > 3)
    t.equal((await das(pack)).code, 0)
    t.ok(owned('finished') > 5)
  },
)

await t.test('forms beyond the disk limit are refused', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  mkdirSync(join(folder, 'var', 'objects'), { recursive: true })
  writeFileSync(join(folder, 'var', 'objects', 'full.parquet'), Buffer.alloc(1_000_000))
  const environment = { DAS_DISK_LIMIT: '1MB' }
  t.match(await das(pack, { environment }), {
    code: 1,
    stderr:
      /Packing needs [\d,]+ bytes of disk, but only 0 of --disk-limit are left beside what is stored\./,
  })
})

await t.test('on a terminal a bar is shown and removed at the end', async (t) => {
  const { das } = await buildCliFixture(t)
  const { stdout, stderr } = await das(pack, { isTerminal: true })
  const lines = stderr.split('\r\u001b[2K')
  t.equal(lines[1], 'writing: [....................] 0 % (0 of 80 rows)')
  t.equal(lines.at(-1), '')
  t.match(stdout, /^financials: 40 rows/)
})

await t.test(
  'a dataset without a key is packed with a warning: nothing is looked up',
  async (t) => {
    const { das } = await buildCliFixture(t)
    const { code, stderr } = await das(['dataset', 'pack', 'procurement'])
    t.equal(code, 0)
    t.match(stderr, /^warning: "procurement" has no key in the registry: list the columns of its /)
    const unknown = await das(['dataset', 'pack', 'financial'])
    t.equal(unknown.code, 2)
    t.match(unknown.stderr, /Did you mean "financials"\?/)
  },
)

await t.test('a folder that cannot be written is reported with what to do', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  writeFileSync(join(folder, 'var'), '')
  const { code, stderr } = await das(pack)
  t.equal(code, 1)
  t.match(stderr, /can't be written \(ENOTDIR\)\. Run the command as the user of the server\.\n$/)
})

await t.test('Ctrl-C keeps what is finished, and one process packs at a time', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  t.match(await das(pack, { signal: AbortSignal.abort() }), {
    code: 1,
    stderr: 'error: Stopped. The finished forms are kept; run the same command to continue.\n',
  })
  const lock = ServerLock.take(join(formsOf(folder), 'lock'))
  t.match(await das(pack), {
    code: 1,
    stderr: 'error: Another process is packing "financials" already. It goes on; wait for it.\n',
  })
  lock.release()
  t.equal((await das(pack)).code, 0)
  t.notOk(existsSync(join(formsOf(folder), 'drafts')))
})

await t.test('a running server uses the forms, and the next one does', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const forms = async () => {
    const { stdout } = await das(['dataset', 'list', '--json'])
    const list = JSON.parse(stdout) as { name: string; forms: object[] }[]
    return list.find(({ name }) => name === 'financials')?.forms
  }
  const replace = async (year: number, name: string) => {
    const row = `SELECT '0' AS inn, ${year} AS year, '${name}' AS name, CAST(1 AS BIGINT) AS "2110"`
    await writeParquet(folder, { [`data/financials/${year}.parquet`]: row })
    t.equal((await das(['dataset', 'reload', '--force'])).code, 0)
  }
  const all = (state: string) => [
    { form: 'pages', state },
    { form: 'rows', state },
  ]
  await das(['serve'], {
    whileServing: async () => {
      t.same(await forms(), [])
      t.equal((await das(pack)).code, 0)
      t.equal((await das(['dataset', 'reload'])).code, 0)
      t.same(await forms(), all('made'))
    },
  })
  t.ok(existsSync(formsOf(folder)), 'kept by a server that uses them')
  await das(['serve'], {
    whileServing: async () => {
      t.same(await forms(), all('made'))
      await replace(2025, 'Company')
      t.same(await forms(), all('stale'), 'of one file, but not of the new one')
      t.match((await das(['dataset', 'list'])).stdout, 'financials: not all files have forms')
      t.equal((await das(pack)).code, 0)
      t.equal((await das(['dataset', 'reload'])).code, 0)
      t.same(await forms(), all('made'))
      await replace(2024, 'Other')
      await replace(2025, 'Other')
      t.same(await forms(), all('stale'), 'of no file, but they were made')
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
