import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeParquet } from '../../support/world.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'

const files = {
  'data/cities.parquet': "SELECT 'Oslo' AS city, 717710 AS people",
  'data/sales.parquet': 'SELECT i AS id, 2024 AS year FROM range(3) t(i)',
}

await t.test('init makes each file of a folder a dataset of a new registry', async (t) => {
  const cli = await buildCliFixture(t)
  await writeParquet(cli.folder, { ...files, 'new/cities.parquet': files['data/cities.parquet'] })
  writeFileSync(join(cli.folder, 'new/codes.csv'), 'code,name\n01,one\n02,two\n')
  const registry = join(cli.folder, 'new', 'registry.yaml')
  const environment = { DAS_REGISTRY: registry }
  const { code, stdout, stderr } = await cli.das(['init'], { environment })
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^Added 2 datasets\.$/m)
  t.match(stdout, /\$ das dataset check\n {2}\$ das serve\n$/)
  const text = readFileSync(registry, 'utf8')
  t.match(text, /^# The datasets of this service\./)
  t.match(text, /^# demo: \{ token: das_demo_\w+ \}/m)
  t.match(text, /^ {2}cities:\n {4}title: Cities\n {4}files: cities\.parquet # relative/m)
  t.match(text, /^ {2}codes:\n/m)
  t.ok(existsSync(join(cli.folder, 'new/codes.parquet')))
  const checked = await cli.das(['dataset', 'check'], { environment })
  t.equal(checked.code, 0, checked.stdout + checked.stderr)
  const audit = await cli.das(['audit', '--json'])
  const entries = JSON.parse(audit.stdout) as { action: string; subject: string }[]
  t.match(entries, [
    { action: 'dataset.added', subject: 'cities' },
    { action: 'dataset.added', subject: 'codes' },
  ])
})

await t.test('init takes another folder, and prints JSON', async (t) => {
  const cli = await buildCliFixture(t, undefined, files)
  const registry = join(cli.folder, 'first.yaml')
  const argv = ['init', join(cli.folder, 'data'), '--registry', registry, '--json']
  const { code, stdout } = await cli.das(argv)
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { added: [{ name: 'cities' }, { name: 'sales' }], failed: [] })
  t.match(readFileSync(registry, 'utf8'), /^ {4}files: data\/sales\.parquet/m)
})

await t.test('init changes no existing file', async (t) => {
  const cli = await buildCliFixture(t)
  const path = join(cli.folder, 'registry.yaml')
  const before = readFileSync(path, 'utf8')
  const second = await cli.das(['init'])
  t.equal(second.code, 2)
  t.match(second.stderr, /registry\.yaml exists already\. To add to it: das dataset add FILE\n$/)
  t.equal(readFileSync(path, 'utf8'), before)

  const empty = join(cli.folder, 'empty')
  mkdirSync(empty)
  const environment = { DAS_REGISTRY: join(empty, 'registry.yaml') }
  const none = await cli.das(['init'], { environment })
  t.equal(none.code, 2)
  t.match(none.stderr, /empty has no CSV, Excel, NDJSON or Parquet file\.\n$/)
  const file = await cli.das(['init', path], { environment })
  t.equal(file.code, 2)
  t.match(file.stderr, /registry\.yaml is not a folder/)
  t.notOk(existsSync(join(empty, 'registry.yaml')))
})
