import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { readRegistry } from '../../../src/catalog.js'
import { listOf } from '../../../src/registry/registry.js'
import { findFiles } from '../../../src/versions/files/find-files.js'
import { buildCliFixture } from '../../cli/fixtures/cli-fixture.js'
import type { Outcome } from '../../cli/fixtures/cli-fixture.js'
import { startWorld, writeParquet } from '../../support/world.js'

// Guarantee: what is listed is read, and no file that its name would match as a pattern.

/** A file lies beside it that is called as an entry would write this one. */
const taken = 'taken[1].parquet'
const written = [
  'report[1].parquet',
  taken,
  'a*.parquet',
  '?.parquet',
  '**.parquet',
  '[!x].parquet',
  '[^x]{a,b}.parquet',
  '{a,b}.parquet',
  '!no.parquet',
  'a\\[1].parquet',
  'q\'"$x %20[1].parquet',
  'год [1] 😀?.parquet',
  'region=[a]/x.parquet',
  'data[1]/*/+(x)[a-z].parquet',
]
const letters = [...'[]*?{}!^-\\\'"$% ', 'a', '1', 'ж', '😀', ',']
const invented = fc
  .array(fc.constantFrom(...letters), { minLength: 2, maxLength: 8 })
  .map((parts) => `${parts.join('')}.parquet`)

/** Names that a name would match, were it a pattern of one kind or another, and near misses. */
function decoysOf(name: string): readonly string[] {
  const changes: readonly (readonly [RegExp, string])[] = [
    [/\[[!^]?([^\]]).*?\]/g, '$1'],
    [/\[[!^].*?\]/g, 'z'],
    [/[*?]/g, 'x'],
    [/[*?]/g, ''],
    [/\{(.*?)[,}].*?\}?/g, '$1'],
    [/\\/g, ''],
    [/\\/g, '/'],
    [/^!/, ''],
    [/[[\]*?{}!^\\]/g, ''],
    [/[[*?]/g, '[$&]'],
  ]
  const each = changes.map(([from, to]) => name.replace(from, to))
  const all = changes.reduce((text, [from, to]) => text.replace(from, to), name)
  const escaped = name === taken ? ['taken\\[1\\].parquet'] : []
  return [...new Set([...each, all, ...escaped])].filter(
    (decoy) => decoy !== name && !decoy.startsWith('/'),
  )
}

interface Listed {
  readonly dataset: string
  readonly name: string
  readonly path: string
}

/** Each name in a folder of its own; what is in the listed file says so, in half as many rows. */
async function layOut(t: Test, folder: string, names: readonly string[]): Promise<Listed[]> {
  const seeds = t.testdir({})
  await writeParquet(seeds, {
    listed: "SELECT range AS id, 'listed ' || range AS v FROM range(2)",
    decoy: "SELECT range AS id, 'decoy ' || range AS v FROM range(4)",
  })
  const put = (seed: string, path: string) => {
    mkdirSync(dirname(path), { recursive: true })
    copyFileSync(join(seeds, seed), path)
  }
  return names.map((name, index) => {
    const dataset = `d${index}`
    const path = join(folder, dataset, name)
    put('listed', path)
    for (const decoy of decoysOf(name)) {
      const other = join(folder, dataset, decoy)
      if (!existsSync(other)) put('decoy', other)
    }
    return { dataset, name, path }
  })
}

const sampled = fc.sample(invented, { numRuns: 12, seed: 17 })

await t.test('every command reads files with special characters in their names', (t) =>
  useAll(t, 'cli', [...new Set([...written, ...sampled])]),
)

await t.test('each command also works in a folder with any characters in its name', (t) =>
  useAll(t, 'a [cli] of {odd}? *names', ['report[1].parquet', 'plain.parquet', '?/x*.parquet']),
)

async function useAll(t: Test, called: string, names: readonly string[]): Promise<void> {
  const { folder, das } = await buildCliFixture(t, '', {})
  const odd = join(folder, called)
  mkdirSync(odd)
  const listed = await layOut(t, odd, names)
  const registry = join(odd, 'registry.yaml')
  const environment = { DAS_REGISTRY: registry, DAS_STATE: join(odd, 'var') }
  const run = async (...argv: readonly string[]): Promise<Outcome> => {
    const outcome = await das(argv, { environment })
    t.match(outcome, { code: 0 }, argv.join(' '))
    return outcome
  }
  const flags = ['--yes', '--no-dictionary', '--key', 'id', '--no-history', '--json']
  for (const { dataset, path, name } of listed) {
    const { stdout } = await run('dataset', 'add', path, '--name', dataset, ...flags)
    t.equal((JSON.parse(stdout) as { rows: number }).rows, 2, name)
  }

  await t.test('an entry matches no other file when its file is gone', async (t) => {
    const { datasets } = await readRegistry(registry)
    for (const { dataset, path, name } of listed) {
      const patterns = listOf(datasets.get(dataset)?.files)
      const found = await findFiles(odd, patterns)
      t.same(
        found.map((file) => file.path),
        [path],
        name,
      )
      renameSync(path, join(folder, 'away'))
      if (name === taken) t.not(patterns[0], `${dataset}/taken\\[1\\].parquet`)
      else await t.rejects(findFiles(odd, patterns), { name: 'FileError' }, `${name} is gone`)
      renameSync(join(folder, 'away'), path)
    }
  })

  const { stdout } = await run('dataset', 'check', '--deep')
  t.same(
    stdout.split('\n').filter((line) => /: ok \(2 rows, [23] columns, 1 file\)$/.test(line)).length,
    names.length,
    stdout,
  )

  const isListed = async (t: Test, what: string) => {
    const world = await startWorld(t, {
      at: odd,
      files: {},
      registry: readFileSync(registry, 'utf8'),
    })
    const { token, subscriptionId } = await world.subscribe(
      listed.map(({ dataset }) => `${dataset}:free`),
    )
    for (const { dataset, name } of listed) {
      const rows = [
        { id: 0, v: 'listed 0' },
        { id: 1, v: 'listed 1' },
      ]
      const page = await world.get(`/v1/${dataset}?select=id,v`, token)
      t.same(page.body.data ?? page.text, rows, `${what}: ${name}`)
      const file = await world.get(`/v1/${dataset}?format=parquet`, token)
      t.equal(file.status, 200, `${what}, as a file: ${name}`)
      const all = await world.get(`/v1/${dataset}/export?select=id,v`, token)
      t.same(
        all.text.split('\n').slice(0, 2),
        rows.map((row) => JSON.stringify(row)),
        what,
      )
    }
    return subscriptionId
  }

  let id = ''
  await t.test('served', async (t) => {
    id = await isListed(t, 'served')
  })
  for (const { dataset, name } of listed) {
    const { stdout } = await run('explain', id, `/v1/${dataset}?v=like.listed*`, '--json')
    t.match(JSON.parse(stdout), { answer: { status: 200, rows: 2 } }, `explain: ${name}`)
  }
  for (const { dataset, name } of listed) {
    const { stdout } = await run('dataset', 'pack', dataset, '--json')
    t.match(JSON.parse(stdout), { rows: 2, files: 1 }, `pack: ${name}`)
  }
  await t.test('packed', async (t) => {
    await isListed(t, 'packed')
  })
}
