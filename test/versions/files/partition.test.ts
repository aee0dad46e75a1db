import t from 'tap'
import { typeText } from '../../../src/columns/data-type.js'
import {
  datasetOf,
  makeCatalogFolder,
  versionOf,
} from '../../catalog/live/fixtures/catalog-folder.js'
import type { CatalogFolder } from '../../catalog/live/fixtures/catalog-folder.js'
import { startWorld } from '../../support/world.js'

const tree = (lines = '') =>
  `datasets:\n  things:\n    title: Things\n    files: data/**/*.parquet\n${lines}\n`

/** `things` over files at these paths under `data/`, each with one row unless said otherwise. */
async function makeTree(
  t: Parameters<typeof makeCatalogFolder>[0],
  paths: readonly string[],
  lines = '',
  select = 'SELECT 1 AS x',
): Promise<CatalogFolder> {
  const files = Object.fromEntries(paths.map((path) => [`data/${path}`, select]))
  return makeCatalogFolder(t, { files, registry: tree(lines) })
}

await t.test('folder columns follow those of the files, in types that lose nothing', async (t) => {
  const values = {
    whole: ['2024', '-7', '0', '9223372036854775807'],
    code: ['01', '2', '3', '4'],
    huge: ['9223372036854775808', '1', '2', '3'],
    minus: ['-0', '1', '2', '3'],
    day: ['2024-02-29', '2023-01-01', '0001-01-01', '9999-12-31'],
    noday: ['2023-02-29', '2023-01-01', '2023-01-02', '2023-01-03'],
    text: ['a', '', '%D0%AF%20%2F%3D', '100%'],
    maybe: ['1', '__HIVE_DEFAULT_PARTITION__', '2', '3'],
    never: Array.from({ length: 4 }, () => '__HIVE_DEFAULT_PARTITION__'),
  }
  const paths = [0, 1, 2, 3].map((row) => {
    const folders = Object.entries(values).map(([key, each]) => `${key}=${each[row]}`)
    return `${folders.join('/')}/a=b.parquet`
  })
  const version = versionOf(await (await makeTree(t, paths)).open())
  t.same(
    version.columns.map(({ name, type, nullable }) => `${name} ${typeText(type)} ${nullable}`),
    [
      'x INTEGER true',
      'whole BIGINT false',
      'code VARCHAR false',
      'huge VARCHAR false',
      'minus VARCHAR false',
      'day DATE false',
      'noday VARCHAR false',
      'text VARCHAR false',
      'maybe BIGINT true',
      'never VARCHAR true',
    ],
  )
  const texts = version.files.map(({ partition }) => partition.get('text'))
  t.same(texts.sort(), ['', '100%', 'a', 'Я /='])
  const file = version.files.find(({ partition }) => partition.get('whole') === '-7')
  t.same(file?.bounds.get('whole'), { min: -7n, max: -7n }, 'known without being key or history')
  t.equal(file?.bounds.get('maybe'), null)
})

await t.test('the registry can rename, describe, hide and filter folder columns', async (t) => {
  const lines = `    key: Год
    history: Год
    columns:
      year: {name: Год, description: Отчётный год}
      region: {hidden: true}
    demo: {Год: [2023]}`
  const paths = ['year=2022/region=1/a.parquet', 'year=2023/region=2/a.parquet']
  const dataset = datasetOf(await (await makeTree(t, paths, lines)).open())
  t.equal(dataset.reason, null)
  t.same(
    dataset.version?.columns.map(({ name, hidden }) => [name, hidden]),
    [
      ['x', false],
      ['Год', false],
      ['region', true],
    ],
  )
  t.equal(dataset.version?.newestHistory, 2023n)
  t.match(dataset.demo, [{ kind: 'eq', value: 2023n }])
})

await t.test('a year without rows is not the newest', async (t) => {
  const fixture = await makeTree(t, ['year=2022/a.parquet'], '    history: year')
  await fixture.writeFiles({ 'data/year=2030/a.parquet': 'SELECT 1 AS x WHERE false' })
  t.equal(versionOf(await fixture.open()).newestHistory, 2022n)
})

await t.test('a column in the files has priority over the folder', async (t) => {
  const select = 'SELECT 7::TINYINT AS Year'
  const fixture = await makeTree(t, ['year=2022/a.parquet', 'year=2023/a.parquet'], '', select)
  const { columns, files } = versionOf(await fixture.open())
  t.same(
    columns.map(({ name, type }) => [name, typeText(type)]),
    [['Year', 'TINYINT']],
  )
  t.equal(files[0]?.partition.size, 0)
})

await t.test(
  'if only some files are in a folder, they are refused, with the names of two',
  async (t) => {
    const mixed = await makeTree(t, ['year=2022/a.parquet', 'b.parquet', 'year=2024/c.parquet'])
    t.equal(
      datasetOf(await mixed.open()).reason,
      'registry.yaml:4:5: data/year=2022/a.parquet is in a folder "year=…" and data/b.parquet ' +
        'is not; all files must be alike',
    )
    const held = await makeTree(t, ['year=2022/a.parquet'])
    await held.writeFiles({ 'data/b.parquet': 'SELECT 1 AS x, 2024 AS year' })
    t.equal(
      datasetOf(await held.open()).reason,
      'registry.yaml:4:5: data/b.parquet has a column "year" and data/year=2022/a.parquet has it ' +
        'only in its path; all files must be alike',
    )
    const twice = await makeTree(t, ['year=2022/year=2023/a.parquet'])
    t.equal(
      datasetOf(await twice.open()).reason,
      'registry.yaml:4:5: data/year=2022/year=2023/a.parquet is in two folders for "year"',
    )
  },
)

await t.test('the same files in other folders are another version', async (t) => {
  const ids: string[] = []
  for (const folder of ['year=2022', 'year=2023', 'month=2022', 'plain']) {
    ids.push(versionOf(await (await makeTree(t, [`${folder}/a.parquet`])).open()).id)
  }
  t.equal(new Set(ids).size, 4)
  const again = versionOf(await (await makeTree(t, ['deep/year=2022/a.parquet'])).open()).id
  t.equal(again, ids[0])
})

await t.test('a plan sells the latest years of files in folders by year', async (t) => {
  const years = [2021, 2022, 2023, 2024]
  const world = await startWorld(t, {
    files: Object.fromEntries(
      years.map((year) => [
        `data/year=${year}/a.parquet`,
        `SELECT ${year} * 10 + i AS id FROM range(3) t(i)`,
      ]),
    ),
    registry: tree(`    history: year
    plans: {two: {rows_per_month: 100, history: 2, price_rub: 0}}`),
  })
  const { token } = await world.subscribe(['things:two'])
  const all = await world.get('/v1/things?select=year,id', token)
  t.equal(all.status, 200, all.text)
  t.same(
    all.body.data,
    [2023, 2024].flatMap((year) => [0, 1, 2].map((i) => ({ year, id: year * 10 + i }))),
  )
  const old = await world.get('/v1/things?year=lt.2023', token)
  t.same([old.status, old.body.data], [200, []])
  const one = await world.get('/v1/things?year=eq.2024&id=eq.20241', token)
  t.same(one.body.data, [{ id: 20241, year: 2024 }])
})
