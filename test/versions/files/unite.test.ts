import fc from 'fast-check'
import t from 'tap'
import { typeText, widen } from '../../../src/columns/data-type.js'
import type { DataType, ScalarName } from '../../../src/columns/data-type.js'
import type { ContentFile } from '../../../src/versions/files/build-version.js'
import { uniteColumns } from '../../../src/versions/files/unite.js'
import type { Version } from '../../../src/versions/version.js'
import {
  datasetOf,
  makeCatalogFolder,
  openThings,
  refusalOf,
  versionOf,
} from '../../catalog/live/fixtures/catalog-folder.js'

function typesOf(version: Version): readonly string[] {
  return version.columns.map(({ name, type }) => `${name} ${typeText(type)}`)
}

await t.test(
  'columns are in the order of the first file, followed by those of later files',
  async (t) => {
    const version = await openThings(t, {
      'data/1.parquet': 'SELECT 1 AS b, 2 AS a',
      'data/2.parquet': 'SELECT 1 AS c, 2 AS a, \'x\' AS "2110"',
    })
    t.same(typesOf(version), ['b INTEGER', 'a INTEGER', 'c INTEGER', '2110 VARCHAR'])
    t.same(
      version.columns.map((column) => column.source),
      ['b', 'a', 'c', '2110'],
    )
  },
)

await t.test('types widen to the narrowest that holds every value', async (t) => {
  const version = await openThings(t, {
    'data/1.parquet': `SELECT 1::TINYINT AS small, 1::INTEGER AS whole, 1::UBIGINT AS huge,
      1.5::DECIMAL(4,1) AS exact, 1::FLOAT AS inexact, 1::INTEGER AS mixed, 'a' AS text,
      TIMESTAMP_NS '2024-01-01' AS moment, [1::INTEGER] AS list, {'a': [1.5::FLOAT]} AS struct`,
    'data/2.parquet': `SELECT 1::UTINYINT AS small, 1::BIGINT AS whole, 1::BIGINT AS huge,
      1::INTEGER AS exact, 1::DOUBLE AS inexact, 1::FLOAT AS mixed, 'b' AS text,
      TIMESTAMP_NS '2025-01-01' AS moment, [1::BIGINT] AS list, {'a': [1.5::DOUBLE]} AS struct`,
  })
  t.same(typesOf(version), [
    'small SMALLINT',
    'whole BIGINT',
    'huge HUGEINT',
    'exact DECIMAL(11,1)',
    'inexact DOUBLE',
    'mixed DOUBLE',
    'text VARCHAR',
    'moment TIMESTAMP_NS',
    'list BIGINT[]',
    'struct STRUCT("a" DOUBLE[])',
  ])
})

await t.test('types without a common type are refused, with the names of both files', async (t) => {
  const reason = await refusalOf(t, {
    'data/1.parquet': 'SELECT 1::BIGINT AS n, 1 AS code, 1 AS same, [1] AS list',
    'data/2.parquet': "SELECT 0.5::DOUBLE AS n, 'x' AS code, 1 AS same, ['x'] AS list",
    'data/3.parquet': "SELECT 0.7::DOUBLE AS n, 'x' AS code, 1 AS same, ['x'] AS list",
  })
  t.same(reason.split('\n'), [
    'registry.yaml:4:5: column "n" is BIGINT in data/1.parquet and DOUBLE in data/2.parquet, where row 0 (counted from 0) has "0.5", which BIGINT can\'t hold; correct it, or serve all as numbers: columns: {"n": {type: number}}',
    'registry.yaml:4:5: column "code" is INTEGER in data/1.parquet and VARCHAR in data/2.parquet; no type holds both without loss. Write one type, or serve texts: columns: {"code": {type: string}}',
    'registry.yaml:4:5: column "list" is INTEGER[] in data/1.parquet and VARCHAR[] in data/2.parquet; no type holds both without loss. Write one type, or serve texts: columns: {"list": {type: string}}',
  ])
})

await t.test('a column that a file lacks, or that has no promise, may be empty', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: {
      'data/1.parquet': 'SELECT 1 AS everywhere, 1 AS first, 1 AS open',
      'data/2.parquet': 'SELECT 2 AS everywhere, 2 AS open',
    },
    texts: { 'd.csv': 'column,nullable\neverywhere,false\nfirst,false\nopen,true\n' },
    registry: '    dictionary: d.csv',
  })
  const { columns } = versionOf(await fixture.open())
  t.same(
    columns.map(({ name, nullable }) => [name, nullable]),
    [
      ['everywhere', false],
      ['first', true],
      ['open', true],
    ],
  )
})

await t.test('a promise of the dictionary holds as far as the files prove it', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: {
      'data/1.parquet': `SELECT i AS full, i AS late, [i] AS list, i::DOUBLE AS float,
        CASE WHEN i > 1 THEN i % 2 = 0 END AS flag, 'a' || i AS text FROM range(3) t(i)`,
      'data/2.parquet': `SELECT i AS full, CASE WHEN i < 2000 THEN i END AS late, [i] AS list,
        i::DOUBLE AS float, true AS flag, 'b' AS text FROM range(2050) t(i)`,
      'data/3.parquet': `SELECT 1::BIGINT AS full, 1::BIGINT AS late, [1::BIGINT] AS list,
        1::DOUBLE AS float, true AS flag, 'c' AS text WHERE false`,
    },
    texts: {
      'd.csv':
        'column,nullable\nfull,false\nlate,false\nlist,false\nfloat,false\nflag,false\ntext,false\n',
    },
    registry: '    dictionary: d.csv',
  })
  const { columns } = versionOf(await fixture.open())
  const provenIn = (given: Version['columns']) =>
    given.filter(({ nullable }) => !nullable).map(({ name }) => name)
  t.same(provenIn(columns), ['full', 'text'])
  t.same(
    columns.filter(({ unproven }) => unproven).map(({ name }) => name),
    ['late', 'list', 'float', 'flag'],
  )
  t.same(provenIn(versionOf(await fixture.open()).columns), ['full', 'text'], 'opened again')
})

await t.test('a column that is required in every file is never empty', (t) => {
  const type: DataType = { kind: 'scalar', name: 'INTEGER' }
  const source = {
    path: '',
    realPath: '',
    sizeBytes: 1,
    modifiedMs: 0,
    identity: '',
    contentHash: '',
  }
  const file = (name: string, required: boolean): ContentFile => ({
    source: { ...source, name },
    path: name,
    guard: null,
    hash: null,
    opened: { rows: 1, columns: [{ name: 'x', type, required }], bounds: new Map() },
  })
  const nullable = (...required: readonly boolean[]) => {
    const files = required.map((each, index) => file(String(index), each))
    const none = { columns: [], ofFiles: [], problems: [] }
    const texts = { dictionary: new Map(), labels: new Map() }
    return uniteColumns(files, none, { title: 'x', files: 'x' }, texts).columns[0]?.nullable
  }
  t.equal(nullable(true), false)
  t.equal(nullable(true, true), false)
  t.equal(nullable(true, false), true)
  t.equal(nullable(false, true), true)
  t.end()
})

await t.test('the registry renames, hides, describes, and shows numbers as text', async (t) => {
  const version = await openThings(
    t,
    { 'data/1.parquet': 'SELECT 1 AS line_2110, 2 AS secret, 3 AS id, 4 AS rest' },
    `    columns:
      line_2110: {name: "2110", description: Revenue, unit: RUB}
      secret: {hidden: true}
      id: {json: string}
    key: "2110"`,
  )
  const [line, secret, id, rest] = version.columns
  t.match(line, {
    name: '2110',
    source: 'line_2110',
    description: 'Revenue',
    unit: 'RUB',
    hidden: false,
    asText: false,
  })
  t.match(secret, { name: 'secret', hidden: true })
  t.match(id, { name: 'id', asText: true })
  t.match(rest, { name: 'rest', description: null, unit: null })
  t.same(version.key, [line], 'the key is given by its shown name')
  t.same(version.files[0]?.bounds.get('2110'), { min: 1n, max: 1n, isFull: true })
})

await t.test('the registry has priority over the dictionary', async (t) => {
  const fixture = await makeCatalogFolder(t, {
    files: { 'data/1.parquet': 'SELECT 1 AS a, 2 AS b' },
    texts: { 'd.csv': 'column,unit,description\na,RUB,From the dictionary\nb,,Only here\n' },
    registry: '    dictionary: d.csv\n    columns: {a: {description: From the registry}}',
  })
  const [a, b] = versionOf(await fixture.open()).columns
  t.match(a, { description: 'From the registry', unit: 'RUB' })
  t.match(b, { description: 'Only here', unit: null })
})

await t.test(
  'unknown names in the registry are reported with the most similar column',
  async (t) => {
    const reason = await refusalOf(
      t,
      { 'data/1.parquet': "SELECT 'x' AS inn, 2024 AS year, [1] AS tags" },
      `    key: [in, year]
    history: yaer
    columns: {innn: {hidden: true}}
    demo: {nn: ["1"], tags: [1], year: [twenty, 2024, 20x]}`,
    )
    t.same(reason.split('\n'), [
      'registry.yaml:7:15: the files have no column "innn". Did you mean "inn"?',
      'registry.yaml:5:11: there is no column "in". Did you mean "inn"?',
      'registry.yaml:6:5: there is no column "yaer". Did you mean "year"?',
      'registry.yaml:8:12: there is no column "nn". Did you mean "inn"?',
      'registry.yaml:8:23: column "tags" (json) can\'t be limited to a value',
      'registry.yaml:8:41: Column "year" takes an integer, got "twenty". Example: year=eq.2024',
      'registry.yaml:8:55: Column "year" takes an integer, got "20x". Example: year=eq.2024',
    ])
  },
)

await t.test('a history column has integers, dates or timestamps', async (t) => {
  const file = { 'data/1.parquet': "SELECT 'x' AS text, 0.5 AS number, true AS flag, [1] AS list" }
  for (const [name, shown] of [
    ['text', 'string'],
    ['number', 'number'],
    ['flag', 'boolean'],
    ['list', 'json'],
  ] as const) {
    t.equal(
      await refusalOf(t, file, `    history: ${name}`),
      `registry.yaml:5:5: column "${name}" is of type ${shown}; history counts years in an integer, date or timestamp column`,
    )
  }
})

await t.test('a name that clashes with a parameter must be renamed', async (t) => {
  for (const name of ['select', 'limit', 'cursor', 'format']) {
    const files = { 'data/1.parquet': `SELECT 1 AS "${name}", 2 AS a` }
    t.equal(
      await refusalOf(t, files),
      `registry.yaml:4:5: column "${name}" clashes with the request parameter of that name; rename it: columns: {"${name}": {name: …}}`,
    )
    const version = await openThings(t, files, `    columns: {${name}: {name: the_${name}}}`)
    t.equal(version.columns[0]?.name, `the_${name}`)
  }
  t.equal(
    await refusalOf(t, { 'data/1.parquet': 'SELECT 1 AS a' }, '    columns: {a: {name: limit}}'),
    'registry.yaml:5:19: column "limit" clashes with the request parameter of that name; rename it: columns: {"a": {name: …}}',
  )
})

await t.test("a name that the engine uses for a row's position is refused", async (t) => {
  for (const name of ['file_row_number', 'File_Index']) {
    const reason = `registry.yaml:4:5: column "${name}" has a name that the engine uses itself; remove it from the files`
    const files = { 'data/1.parquet': `SELECT 1 AS "${name}", 2 AS a` }
    t.equal(await refusalOf(t, files), reason)
    t.match(
      await refusalOf(t, files, `    columns: {${name}: {name: other}}`),
      /has a name that the engine uses itself/,
      'renaming does not help',
    )
  }
  const version = await openThings(t, { 'data/1.parquet': "SELECT 'a.txt' AS filename" })
  t.same(typesOf(version), ['filename VARCHAR'], 'a file name is an ordinary column')
})

await t.test(
  'names that differ only in case are refused, across files and within one',
  async (t) => {
    t.equal(
      await refusalOf(t, {
        'data/1.parquet': 'SELECT 1 AS inn',
        'data/2.parquet': 'SELECT 1 AS "INN"',
      }),
      'registry.yaml:4:5: columns "inn" and "INN" differ in case only; rename it: columns: {"INN": {name: …}}',
    )
    t.equal(
      await refusalOf(
        t,
        { 'data/1.parquet': 'SELECT 1 AS a, 2 AS b' },
        '    columns: {a: {name: same}, b: {name: same}}',
      ),
      'registry.yaml:5:36: two columns have the name "same": "a" and "b"; ' +
        'rename it: columns: {"b": {name: …}}',
    )
    const version = await openThings(
      t,
      { 'data/1.parquet': 'SELECT 1 AS inn', 'data/2.parquet': 'SELECT 1 AS "INN"' },
      '    columns: {INN: {name: inn_2}}',
    )
    t.same(typesOf(version), ['inn INTEGER', 'inn_2 INTEGER'])
  },
)

await t.test('column names may be anything that Parquet allows', async (t) => {
  const names = ['сумма, ₽', 'a.b', "it's", 'two words', 'say "hi"', '2110', 'a=b&c', '\u{1f600}']
  const select = names.map((name) => `1 AS "${name.replaceAll('"', '""')}"`).join(', ')
  const version = await openThings(t, { 'data/1.parquet': `SELECT ${select}` })
  t.same(
    version.columns.map((column) => column.name),
    names,
  )
})

await t.test(
  'a dataset takes its settings from the registry, the others from defaults',
  async (t) => {
    const files = { 'data/1.parquet': 'SELECT 1 AS a' }
    const fixture = await makeCatalogFolder(t, { files })
    const plain = datasetOf(await fixture.open())
    t.match(plain, {
      name: 'things',
      title: 'Things',
      description: null,
      source: null,
      listed: false,
      limit: { default: 100, max: 1000 },
      requireFilter: false,
      timeoutMs: 10_000,
      demo: null,
      reason: null,
    })
    fixture.writeRegistry(`    description: What there is
    source: Ours
    listed: true
    limit: {max: 50}
    require_filter: true
    timeout_seconds: 2.5`)
    t.match(datasetOf(await fixture.open()), {
      description: 'What there is',
      source: 'Ours',
      listed: true,
      limit: { default: 50, max: 50 },
      requireFilter: true,
      timeoutMs: 2500,
    })
    fixture.writeRegistry('    limit: {default: 5000}')
    t.same(datasetOf(await fixture.open()).limit, { default: 5000, max: 5000 })
  },
)

await t.test(
  'a dataset of more than 100,000 rows needs a filter, unless the registry says otherwise',
  async (t) => {
    const of = async (rows: number, line = '') => {
      const fixture = await makeCatalogFolder(t, {
        files: { 'data/1.parquet': `SELECT 1 AS a FROM range(${rows})` },
        registry: line,
      })
      return datasetOf(await fixture.open()).requireFilter
    }
    t.equal(await of(100_000), false)
    t.equal(await of(100_001), true)
    t.equal(await of(100_001, '    require_filter: auto'), true)
    t.equal(await of(100_001, '    require_filter: false'), false)
  },
)

const scalars: readonly ScalarName[] = [
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
  'UHUGEINT',
  'FLOAT',
  'DOUBLE',
  'VARCHAR',
  'DATE',
  'TIME',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP',
  'TIMESTAMP_NS',
  'TIMESTAMPTZ',
  'BOOLEAN',
  'BLOB',
  'JSON',
]

const anyType: fc.Arbitrary<DataType> = fc.oneof(
  fc.constantFrom(...scalars).map((name): DataType => ({ kind: 'scalar', name })),
  fc
    .tuple(fc.integer({ min: 1, max: 38 }), fc.nat(38))
    .map(([width, scale]): DataType => ({ kind: 'decimal', width, scale: Math.min(scale, width) })),
  fc.constant<DataType>({ kind: 'enum', values: ['a', 'b'] }),
  fc.constant<DataType>({ kind: 'list', element: { kind: 'scalar', name: 'INTEGER' } }),
)

await t.test('widening does not depend on which file comes first', (t) => {
  const text = (type: DataType | undefined) => type && typeText(type)
  fc.assert(
    fc.property(anyType, anyType, (a, b) => text(widen(a, b)) === text(widen(b, a))),
    { numRuns: 1000 },
  )
  fc.assert(
    fc.property(anyType, (a) => text(widen(a, a)) === text(a)),
    { numRuns: 200 },
  )
  fc.assert(
    fc.property(anyType, anyType, (a, b) => {
      const wide = widen(a, b)
      return !wide || (text(widen(wide, a)) === text(wide) && text(widen(wide, b)) === text(wide))
    }),
    { numRuns: 1000 },
  )
  t.end()
})
