import t from 'tap'
import type { Test } from 'tap'
import { joiningLinks } from '../../src/catalog/links.js'
import { RegistryError, parseRegistry } from '../../src/registry/registry.js'
import { checksOf } from '../cli/fixtures/checked.js'
import { buildCliFixture } from '../cli/fixtures/cli-fixture.js'
import { writeParquet } from '../support/parquet.js'
import { datasetOf, makeCatalogFolder } from './live/fixtures/catalog-folder.js'

const deals = `  deals:
    title: Deals
    files: deals.parquet
    columns: {secret: {hidden: true}}
`

function registryWith(lines: string): string {
  return `datasets:\n  things:\n    title: Things\n    files: things.parquet\n${lines}${deals}`
}

const files = {
  'things.parquet': "SELECT '007' AS inn, 7 AS number, 'A' AS name",
  'deals.parquet': "SELECT '007' AS buyer, 7 AS lot, [1] AS tags, '007' AS secret",
}

const entity = '    entity: {key: inn, name: name}\n'

function problemsOf(lines: string): readonly string[] {
  try {
    parseRegistry(registryWith(lines), '/srv/registry.yaml')
  } catch (cause) {
    if (cause instanceof RegistryError) return cause.problems
    throw cause
  }
  return []
}

await t.test('a link names a dataset of the registry and the key of the entity', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['{deal: {buyer: inn}}', '6:13: $.deal: there is no dataset "deal". Did you mean "deals"?'],
    [
      '{deals: {buyer: name}}',
      '6:21: $.deals.buyer: must be the key of the entity, "inn", got "name".',
    ],
    [
      '{deals: {}}',
      "6:13: $.deals: must be a map of its columns to the key of this dataset's entity.",
    ],
    ['5', '6:5: $: must be a map of datasets by name, got 5.'],
  ]
  for (const [links, problem] of cases) {
    const expected = problem.replace('$', 'datasets.things.links')
    t.same(problemsOf(`${entity}    links: ${links}\n`), [`registry.yaml:${expected}`], links)
  }
  t.same(problemsOf('    links: {deals: {buyer: inn}}\n'), [
    'registry.yaml:5:5: datasets.things.links: needs an entity: add "entity: {key: <column>}" to the dataset.',
  ])
  t.same(problemsOf(`${entity}    links: {deals: {buyer: inn, lot: inn}}\n`), [])
  t.end()
})

const mistakes: readonly (readonly [string, string])[] = [
  ['byer', 'deals has no column "byer". Did you mean "buyer"?'],
  ['secret', 'column "secret" of deals is hidden'],
  ['lot', 'column "lot" of deals (integer) is never equal to "inn" (string)'],
  ['tags', 'column "tags" of deals (json) is never equal to "inn" (string)'],
]
const links = `    links: {deals: {buyer: inn, ${mistakes.map(([name]) => `${name}: inn`).join(', ')}}}\n`

async function openWith(t: Test, registry: string) {
  const fixture = await makeCatalogFolder(t, { files, registry: registryWith(registry) })
  return fixture.open()
}

await t.test('a link that joins no rows is a warning, and the others join', async (t) => {
  const catalog = await openWith(t, entity + links)
  const things = datasetOf(catalog, 'things')
  t.equal(things.reason, null)
  t.same(
    things.warnings.map((line) => line.replace(/^registry\.yaml:6:\d+: /, '')),
    mistakes.map(([, message]) => message),
  )
  t.match(things.warnings[0], /^registry\.yaml:6:33: /)
  t.same(joiningLinks(things, catalog.datasets), [{ dataset: 'deals', column: 'buyer' }])
})

await t.test('integers join integers, whatever their size', async (t) => {
  const numbers = '    entity: {key: number}\n    links: {deals: {lot: number}}\n'
  const catalog = await openWith(t, numbers)
  const things = datasetOf(catalog, 'things')
  t.same(things.warnings, [])
  t.same(joiningLinks(things, catalog.datasets), [{ dataset: 'deals', column: 'lot' }])
})

await t.test('das dataset check says it, also when it is asked for one dataset', async (t) => {
  const cli = await buildCliFixture(t, registryWith(entity + links), {})
  await writeParquet(cli.folder, files)
  for (const flags of [[], ['things']]) {
    const [things] = await checksOf(cli, flags)
    const broken = things?.findings.filter(({ code }) => code === 'link_broken') ?? []
    t.equal(broken.length, mistakes.length)
    for (const [index, [, message]] of mistakes.entries()) {
      t.match(broken[index], { level: 'warning' })
      t.ok(broken[index]?.message.endsWith(message), message)
    }
  }
})
