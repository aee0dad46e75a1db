import t from 'tap'
import { plainColumn } from '../../../src/columns/column.js'
import { buildVersion } from '../../../src/versions/files/build-version.js'
import { openThings, refusalOf } from '../../catalog/live/fixtures/catalog-folder.js'

await t.test('a version has its rows, bytes and newest modification time', async (t) => {
  const version = await openThings(
    t,
    {
      'data/1.parquet': 'SELECT i AS x FROM range(7) r(i)',
      'data/2.parquet': 'SELECT i AS x FROM range(5) r(i)',
    },
    '    key: x',
  )
  t.equal(version.rows, 12)
  t.same(
    version.files.map(({ name, rows }) => [name, rows]),
    [
      ['data/1.parquet', 7],
      ['data/2.parquet', 5],
    ],
  )
  t.ok(version.bytes > 200)
  t.ok(version.modifiedMs > Date.UTC(2020, 0))
  t.equal(version.dataset, 'things')
})

/** No value is empty. */
const isFull = true

await t.test('each file has the bounds of key and history columns only', async (t) => {
  const version = await openThings(
    t,
    {
      'data/1.parquet':
        "SELECT unnest(['b', 'a\u00e9', NULL]) AS id, unnest([5, -3, 2]) AS n, unnest([2020, 2022, NULL]) AS year, 1 AS other",
      'data/2.parquet': 'SELECT NULL::VARCHAR AS id, 1 AS n, 2024 AS year, 1 AS other',
      'data/3.parquet': "SELECT 'z' AS id, 2021 AS year, 1 AS other",
    },
    '    key: [id, n]\n    history: year',
  )
  t.same(
    version.files.map(({ bounds }) => Object.fromEntries(bounds)),
    [
      {
        id: { min: 'a\u00e9', max: 'b' },
        n: { min: -3n, max: 5n, isFull },
        year: { min: 2020n, max: 2022n },
      },
      { id: null, n: { min: 1n, max: 1n, isFull }, year: { min: 2024n, max: 2024n, isFull } },
      { id: { min: 'z', max: 'z', isFull }, n: null, year: { min: 2021n, max: 2021n, isFull } },
    ],
    'null where every value is empty or the file lacks the column; full where none is empty',
  )
  t.equal(version.newestHistory, 2024n)
})

await t.test(
  "bounds are on the grid of the dataset's type, whatever the file's type",
  async (t) => {
    const version = await openThings(
      t,
      {
        'data/1.parquet':
          "SELECT 5 AS price, DATE '2024-02-29' AS day, TIMESTAMP '1969-12-31 23:59:59.5' AS at",
        'data/2.parquet':
          "SELECT 10.25::DECIMAL(6,2) AS price, DATE '0001-01-01' AS day, NULL::TIMESTAMP AS at",
        'data/3.parquet':
          "SELECT -0.01::DECIMAL(6,2) AS price, unnest(['infinity', '2024-01-01', '-infinity'])::DATE AS day, NULL::TIMESTAMP AS at",
      },
      '    key: [price, day, at]',
    )
    const bounds = version.files.map((file) => Object.fromEntries(file.bounds))
    t.same(bounds[0], {
      price: { min: 500n, max: 500n, isFull },
      day: { min: 19782n, max: 19782n, isFull },
      at: { min: -500000n, max: -500000n, isFull },
    })
    t.same(bounds[1], {
      price: { min: 1025n, max: 1025n, isFull },
      day: { min: -719162n, max: -719162n, isFull },
      at: null,
    })
    t.same(bounds[2], {
      price: { min: -1n, max: -1n, isFull },
      day: { min: 19723n, max: 19723n },
      at: null,
    })
  },
)

await t.test('a dataset whose history column is empty has no newest value', async (t) => {
  const empty = { 'data/1.parquet': 'SELECT NULL::INTEGER AS year, 1 AS x' }
  t.equal((await openThings(t, empty, '    history: year')).newestHistory, undefined)
})

await t.test('a history column without a known newest value is refused', (t) => {
  const history = plainColumn('year', { kind: 'scalar', name: 'INTEGER' })
  const source = { path: '/a', name: 'a.parquet', realPath: '/a', sizeBytes: 1, modifiedMs: 0 }
  const build = (rows: number) =>
    buildVersion(
      'things',
      {
        files: [
          {
            source: { ...source, identity: '', contentHash: '' },
            path: '/a',
            guard: null,
            hash: null,
            opened: {
              rows,
              columns: [{ name: 'year', type: history.type, required: false }],
              bounds: new Map(),
            },
          },
        ],
      },
      {
        columns: [history],
        key: [],
        lookUps: [],
        history,
        partitions: { columns: [], ofFiles: [], problems: [] },
      },
    )
  t.same(build(1).problems, [
    {
      path: ['history'],
      message: 'a.parquet: years can\'t be counted from column "year"',
    },
  ])
  t.same(build(0).problems, [])
  t.end()
})

await t.test('a key of a type without bounds is still a key, and every file is read', async (t) => {
  const version = await openThings(
    t,
    { 'data/1.parquet': 'SELECT 0.5::DOUBLE AS x, uuid() AS id, true AS flag' },
    '    key: [x, id, flag]',
  )
  t.equal(version.files[0]?.bounds.size, 0)
  t.equal(await refusalOf(t, { 'data/1.parquet': 'SELECT 1 AS x' }, '    key: [x, x]'), '')
})
