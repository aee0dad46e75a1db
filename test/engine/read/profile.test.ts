import t from 'tap'
import type { Predicate } from '../../../src/columns/predicate.js'
import type { ColumnProfile } from '../../../src/engine/engine.js'
import { busyFor, cpuAfterMax, cpuOfNextSecond, openLong } from '../fixtures/long-query.js'
import { never, openEngine } from '../fixtures/open-engine.js'
import type { EngineWorld } from '../fixtures/open-engine.js'

interface ProfileOptions {
  /** All columns when left out. */
  readonly columns?: readonly string[]
  readonly valuesMax?: number
  readonly rowsMax?: number | null
  readonly signal?: AbortSignal
}

type Ends = Omit<ColumnProfile, 'valueRows' | 'histogram'>

/** The profile without what `counts` returns. */
async function profileOf(
  { engine, version, column }: EngineWorld,
  predicates: readonly Predicate[] = [],
  { columns, valuesMax = 20, rowsMax = null, signal = never }: ProfileOptions = {},
): Promise<{ readonly rows: number; readonly columns: readonly Ends[] }> {
  const chosen = columns?.map(column) ?? version.columns
  const question = { version, predicates, columns: chosen, valuesMax, rowsMax }
  const profile = await engine.profile(question, { signal, client: 'a client' })
  return {
    rows: profile.rows,
    columns: profile.columns.map(({ valueRows: _, histogram: __, ...ends }) => ends),
  }
}

/** How many rows have which values, of columns with at most two values and of the others. */
async function countsOf(
  { engine, version, column }: EngineWorld,
  names: readonly string[],
  predicates: readonly Predicate[] = [],
) {
  const question = {
    ...{ version, predicates, columns: names.map(column), rowsMax: null },
    ...{ valuesMax: 2, withHistograms: true },
  }
  const { columns } = await engine.profile(question, { signal: never, client: 'a client' })
  return columns.map(({ values, valueRows, histogram }) => ({ values, valueRows, histogram }))
}

/** The profile of one column. */
async function columnProfile(
  world: EngineWorld,
  name: string,
  predicates: readonly Predicate[] = [],
  options: ProfileOptions = {},
): Promise<Ends> {
  const { columns } = await profileOf(world, predicates, { ...options, columns: [name] })
  const [profile] = columns
  if (!profile) throw new Error('no profile')
  return profile
}

/** The JSON texts of a column as rows serve them, empty ones too. */
async function cells(
  world: EngineWorld,
  name: string,
  predicates: readonly Predicate[] = [],
): Promise<readonly string[]> {
  const { rows } = await world.read(predicates, { columns: [name] })
  return rows.map(({ json }) => json.slice(`{"${name}":`.length, -1).trim())
}

/** `min`, `max` and `values` of one column as a test expects them; null where left out. */
function facts(
  emptyRows: number,
  { min = null, max = null, values = null }: Partial<ColumnProfile>,
): Ends {
  return { emptyRows, min, max, values }
}

/** Six rows with a column of every kind; the fifth has values served as null, the sixth none. */
const kinds = `SELECT * FROM (VALUES
  (1, -5::TINYINT, 9007199254740993, 18446744073709551615::UBIGINT,
    1.10::DECIMAL(9,2), 0.1::DOUBLE, 0.1::FLOAT, true, DATE '2024-02-29',
    TIMESTAMP '2024-01-31 09:30:00.5', TIMESTAMPTZ '2024-01-31 09:30:00+03', TIME '23:59:59.000001',
    'b "quoted" \\', 'zwei'::ENUM('zwei', 'eins'), uuid '123e4567-e89b-12d3-a456-426614174000',
    'ab'::BLOB, [1, 2], {'a': 1}, MAP {'k': 1}, '{"a": 1.10}'::JSON, 1.10::DECIMAL(9,2), 10),
  (2, 127, -9223372036854775808, 1, -0.05, -1e300, 16777216, false, DATE '1969-12-31',
    TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMPTZ '1969-12-31 23:59:59+00', TIME '00:00:00',
    'Ж', 'eins', uuid '00000000-0000-0000-0000-00000000000a', ''::BLOB, [], {'a': NULL},
    MAP {}, '[]', 20.00, 9),
  (3, -5, 0, 0, 1.10, 5e-324, 0.1, true, DATE '2024-02-29', TIMESTAMP '2024-01-31 09:30:00.5',
    TIMESTAMPTZ '2024-01-31 09:30:00+03', TIME '12:00:00', '', 'zwei',
    uuid '123e4567-e89b-12d3-a456-426614174000', 'ab', [1, 2], {'a': 1}, MAP {'k': 1}, '1', 3.50, 100),
  (4, 0, 9, 9, 9999999.99, 0, -2.5, false, DATE '9999-12-31', TIMESTAMP '9999-12-31 00:00:00',
    TIMESTAMPTZ '9999-12-31 00:00:00+00', TIME '12:00:00', 'b', 'eins', NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL),
  (5, NULL, NULL, NULL, NULL, 'nan', 'inf', NULL, DATE 'infinity', TIMESTAMP '-infinity',
    TIMESTAMPTZ 'infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (6, NULL, NULL, NULL, NULL, '-inf', NULL, NULL, DATE '-infinity', NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) v(id, tiny, big, huge, dec, dbl, flt, flag, day, moment, zoned, clock, text, kind, uuid, bytes,
  list, struct, map, json, price, number)`

const asText = `    columns: {price: {json: string}, number: {json: string}}\n`

await t.test(
  'each kind of column has the facts that it can have, as rows serve them',
  async (t) => {
    const world = await openEngine(t, {
      files: { 'a.parquet': `SELECT *, NULL::INTEGER AS nothing FROM (${kinds})` },
      entry: asText,
    })
    const expected: Readonly<Record<string, Ends>> = {
      id: facts(0, { min: '1', max: '6', values: ['1', '2', '3', '4', '5', '6'] }),
      tiny: facts(2, { min: '-5', max: '127', values: ['-5', '0', '127'] }),
      big: facts(2, {
        min: '-9223372036854775808',
        max: '9007199254740993',
        values: ['-9223372036854775808', '0', '9', '9007199254740993'],
      }),
      huge: facts(2, {
        min: '"0"',
        max: '"18446744073709551615"',
        values: ['"0"', '"1"', '"9"', '"18446744073709551615"'],
      }),
      dec: facts(2, { min: '-0.05', max: '9999999.99' }),
      dbl: facts(2, { min: '-1e+300', max: '0.1' }),
      flt: facts(2, { min: '-2.5', max: '16777216.0' }),
      flag: facts(2, { values: ['false', 'true'] }),
      day: facts(2, {
        min: '"1969-12-31"',
        max: '"9999-12-31"',
        values: ['"1969-12-31"', '"2024-02-29"', '"9999-12-31"'],
      }),
      moment: facts(2, { min: '"1969-12-31T23:59:59.999999"', max: '"9999-12-31T00:00:00"' }),
      zoned: facts(2, { min: '"1969-12-31T23:59:59Z"', max: '"9999-12-31T00:00:00Z"' }),
      clock: facts(2, { min: '"00:00:00"', max: '"23:59:59.000001"' }),
      text: facts(2, { values: ['""', '"b"', '"b \\"quoted\\" \\\\"', '"Ж"'] }),
      kind: facts(2, { values: ['"eins"', '"zwei"'] }),
      uuid: facts(3, {
        values: [
          '"00000000-0000-0000-0000-00000000000a"',
          '"123e4567-e89b-12d3-a456-426614174000"',
        ],
      }),
      bytes: facts(3, {}),
      list: facts(3, {}),
      struct: facts(3, {}),
      map: facts(3, {}),
      json: facts(3, {}),
      price: facts(3, { min: '"1.10"', max: '"20.00"' }),
      number: facts(3, { min: '"9"', max: '"100"', values: ['"9"', '"10"', '"100"'] }),
      nothing: facts(6, { values: [] }),
    }
    const { rows, columns } = await profileOf(world)
    t.equal(rows, 6)
    t.strictSame(
      world.version.columns.map(({ name }) => name),
      Object.keys(expected),
    )
    for (const [index, { name }] of world.version.columns.entries()) {
      t.strictSame(columns[index], expected[name], name)
      const served = await cells(world, name)
      const full = served.filter((json) => json !== 'null')
      const { emptyRows, min, max, values } = columns[index] ?? facts(0, {})
      t.equal(emptyRows, served.length - full.length, `${name}: what is served as null`)
      for (const end of [min, max]) {
        t.ok(end === null || full.includes(end), `${name}: ${end} is served`)
      }
      if (values) t.strictSame([...values].sort(), [...new Set(full)].sort(), `${name}: all values`)
    }
  },
)

await t.test(
  'files with columns missing, narrower or in another order are one dataset',
  async (t) => {
    const world = await openEngine(t, {
      files: {
        '1.parquet': `SELECT i::SMALLINT AS id, 'old' AS origin FROM range(10) t(i)`,
        '2.parquet': `SELECT 'new' AS origin, (100000 + i)::INTEGER AS id, i % 2 = 0 AS flag
        FROM range(10) t(i)`,
        '3.parquet': `SELECT 5_000_000_000 + i AS id, 0.5::FLOAT AS share FROM range(10) t(i)`,
        '4.parquet': `SELECT (i - 7)::TINYINT AS id, 0.1::DOUBLE AS share FROM range(5) t(i)`,
      },
    })
    const { rows, columns } = await profileOf(world)
    t.equal(rows, 35)
    const byName = Object.fromEntries(
      world.version.columns.map(({ name }, index) => [name, columns[index]]),
    )
    t.strictSame(byName, {
      id: facts(0, { min: '-7', max: '5000000009' }),
      origin: facts(15, { values: ['"new"', '"old"'] }),
      flag: facts(25, { values: ['false', 'true'] }),
      share: facts(20, { min: '0.1', max: '0.5' }),
    })
    const old = await profileOf(world, world.filter('origin', 'eq', 'old'))
    t.equal(old.rows, 10)
    t.strictSame(
      old.columns.map(({ emptyRows }) => emptyRows),
      world.version.columns.map(({ name }) => (['id', 'origin'].includes(name) ? 0 : 10)),
    )
  },
)

await t.test('only rows that meet every predicate are looked at', async (t) => {
  const world = await openEngine(t, {
    files: {
      'a.parquet': `SELECT i AS id, 'n' || i % 4 AS name FROM range(100) t(i)`,
      'b.parquet': `SELECT 100 + i AS id, 'm' AS name FROM range(100) t(i)`,
    },
  })
  const some = [...world.filter('id', 'gte', '90'), ...world.filter('id', 'lt', '103')]
  t.strictSame(await profileOf(world, some), {
    rows: 13,
    columns: [
      facts(0, {
        min: '90',
        max: '102',
        values: Array.from({ length: 13 }, (_, i) => `${90 + i}`),
      }),
      facts(0, { values: ['"m"', '"n0"', '"n1"', '"n2"', '"n3"'] }),
    ],
  })
  const list = Array.from({ length: 500 }, (_, index) => String(index * 3))
  const third = await profileOf(world, world.filter('id', 'in', ...list))
  t.match(third, { rows: 67, columns: [{ min: '0', max: '198' }] }, 'a long list')
  const nothing = { rows: 0, columns: [facts(0, { values: [] }), facts(0, { values: [] })] }
  const odd = world.filter('name', 'eq', 'n9')
  t.strictSame(await profileOf(world, odd), nothing, 'no row')
  const outside = world.filter('id', 'gt', '1000')
  t.strictSame(await profileOf(world, outside), nothing, 'no file')
  t.strictSame(await profileOf(world, outside, { rowsMax: 8 }), nothing, 'no file of a sample')
})

await t.test('values are listed up to the number asked for, and not one more', async (t) => {
  const world = await openEngine(t, {
    files: {
      'a.parquet': `SELECT i AS id, i % 20 AS twenty, i % 21 AS more, 'k' || i % 1000 AS thousand,
        CASE WHEN i % 2 = 0 THEN 'x' || i % 40 END AS halves FROM range(4000) t(i)`,
    },
  })
  const lengthOf = async (name: string, valuesMax: number) =>
    (await columnProfile(world, name, [], { valuesMax })).values?.length ?? null
  t.equal(await lengthOf('twenty', 20), 20)
  t.equal(await lengthOf('twenty', 19), null)
  t.equal(await lengthOf('more', 20), null)
  t.equal(await lengthOf('more', 21), 21)
  t.equal(await lengthOf('thousand', 1000), 1000)
  t.equal(await lengthOf('thousand', 999), null)
  t.equal(await lengthOf('id', 20), null)
  t.equal(await lengthOf('halves', 20), 20, 'empty is no value')
  const twenty = await columnProfile(world, 'twenty')
  t.strictSame(
    twenty.values,
    Array.from({ length: 20 }, (_, index) => String(index)),
    'by size, not by spelling',
  )
  t.match(await columnProfile(world, 'more'), { min: '0', max: '20' }, 'the ends are known still')
})

await t.test('rows are counted by value, or by bins of growing width', async (t) => {
  const world = await openEngine(t, {
    files: {
      'a.parquet': `SELECT i AS id, 'n' || i % 2 AS name, (i * 10)::DOUBLE AS even,
        CASE WHEN i < 90 THEN i * 1e5 ELSE 1e9 END::DOUBLE AS wide, -i AS below, i % 3 = 0 AS flag,
        DATE '2024-01-01' + i::INT AS day, TIMESTAMP '2024-01-01' + to_minutes(i) AS moment,
        TIMESTAMPTZ '2024-01-01 00:00:00+00' + to_minutes(i) AS zoned, 7 AS seven,
        CASE WHEN i = 0 THEN 'nan'::DOUBLE ELSE i END AS nan, 2::UBIGINT ** 53 + i AS large,
        't' || i AS text, NULL::DOUBLE AS nothing FROM range(100) t(i)`,
    },
  })
  const none = { values: null, valueRows: null, histogram: null }
  const [name, flag, text, nothing, seven] = await countsOf(world, [
    ...['name', 'flag', 'text', 'nothing', 'seven'],
  ])
  t.strictSame(name, { ...none, values: ['"n0"', '"n1"'], valueRows: [50, 50] })
  t.strictSame(flag, { ...none, values: ['false', 'true'], valueRows: [66, 34] })
  t.strictSame([text, nothing], [none, none])
  t.strictSame(seven, { ...none, values: ['7'], valueRows: [100] })
  const drawn = ['id', 'even', 'wide', 'below', 'day', 'moment', 'zoned', 'nan', 'large'] as const
  const counts = await countsOf(world, drawn)
  const found = new Map(counts.map(({ histogram }, at) => [drawn[at] ?? '', histogram]))
  for (const [column, histogram] of found) {
    const { edges, rows } = histogram ?? { edges: [], rows: [] }
    t.equal(edges.length, rows.length + 1, column)
    t.ok(rows.length > 5 && rows.length <= 12, column)
    const all = rows.reduce((sum, each) => sum + each, 0)
    t.equal(all, column === 'nan' ? 99 : 100, `${column}: every row with a value`)
  }
  t.strictSame(
    found.get('id')?.edges.map(Number),
    [0, 8, 17, 25, 33, 41, 50, 58, 66, 74, 83, 91, 99],
  )
  t.strictSame(found.get('id')?.rows, [9, 9, 8, 8, 8, 9, 8, 8, 8, 9, 8, 8])
  t.equal(found.get('wide')?.edges.at(0), '0')
  t.equal(found.get('wide')?.edges.at(-1), '1000000000')
  t.equal(found.get('wide')?.rows.at(-1), 10)
  t.ok((found.get('wide')?.rows.filter((rows) => rows > 0).length ?? 0) >= 4, 'small values differ')
  t.match(found.get('day')?.edges.slice(0, 2), ['"2024-01-01"', '"2024-01-09"'])
  t.equal(found.get('moment')?.edges.at(-1), '"2024-01-01T01:39:00"')
  t.equal(found.get('zoned')?.edges.at(1), '"2024-01-01T00:08:15Z"')
  const [few] = await countsOf(world, ['id'], world.filter('id', 'lt', '2'))
  t.strictSame(
    few,
    {
      ...{ values: ['0', '1'], valueRows: [1, 1] },
      histogram: { edges: ['0', '1'], rows: [2] },
    },
    'of these rows alone',
  )
})

await t.test(
  'a sample is bounded, spread over the version, and exact when that is small',
  async (t) => {
    const world = await openEngine(t, {
      files: {
        '1.parquet': `SELECT i AS id, 'one' AS file FROM range(10000) t(i)`,
        '2.parquet': `SELECT (10000 + i)::INTEGER AS id, 'two' AS file, 1 AS extra FROM range(5000) t(i)`,
        '3.parquet': `SELECT 15000 + i AS id, 'three' AS file FROM range(5000) t(i)`,
      },
    })
    const sample = (rowsMax: number, predicates: readonly Predicate[] = []) =>
      profileOf(world, predicates, { rowsMax, columns: ['id', 'file', 'extra'] })
    const all = await profileOf(world, [], { columns: ['id', 'file', 'extra'] })
    t.match(all, { rows: 20000, columns: [{ min: '0', max: '19999' }] })
    t.strictSame(await sample(20000), all)
    t.strictSame(await sample(1e9), all)
    const part = await sample(800)
    t.strictSame(part, {
      rows: 800,
      columns: [
        facts(0, { min: '0', max: '17599' }),
        facts(0, { values: ['"one"', '"three"', '"two"'] }),
        facts(600, { min: '1', max: '1', values: ['1'] }),
      ],
    })
    t.strictSame(await sample(800), part, 'the same sample every time')
    for (const rowsMax of [8, 9, 1000, 19_999]) {
      const { rows } = await sample(rowsMax)
      t.ok(rows > rowsMax - 8 && rows <= rowsMax, `${rows} of ${rowsMax}`)
    }
    const few = world.filter('id', 'lt', '100')
    t.match(await sample(10_000, few), { rows: 100 }, 'what the file bounds leave is counted from')
    const thinned = await sample(800, world.filter('id', 'in', '0', '50', '150', '17500'))
    t.match(
      thinned,
      { rows: 3, columns: [{ values: ['0', '50', '17500'] }] },
      'of the sample alone',
    )
  },
)

await t.test('hundreds of columns keep their order', async (t) => {
  const names = Array.from({ length: 400 }, (_, index) => `column ${index}`)
  const list = names.map((name, index) => `i * 1000 + ${index} AS "${name}"`)
  const world = await openEngine(t, {
    files: { 'a.parquet': `SELECT ${list.join(', ')} FROM range(2) t(i)` },
  })
  const { rows, columns } = await profileOf(world)
  t.equal(rows, 2)
  t.strictSame(
    columns.map(({ min, max }) => `${min} ${max}`),
    names.map((_, index) => `${index} ${1000 + index}`),
  )
  const reversed = await profileOf(world, [], { columns: [...names].reverse() })
  t.strictSame(reversed.columns, [...columns].reverse())
})

// Guarantee: a profile whose caller is gone stops. Measured in CPU time.
await t.test('an abort ends a profile, before and while it runs', async (t) => {
  const world = await openLong(t)
  const predicates = Array.from({ length: 50 }, (_, list) => {
    const others = Array.from({ length: 14 }, (_, value) => `${list * 14 + value} days`)
    return world.filter('span', 'in', ...others, '1000 days', '1001 days')
  }).flat()
  const gone = new Error('the client hung up')
  await t.rejects(profileOf(world, predicates, { signal: AbortSignal.abort(gone) }), gone)
  const caller = new AbortController()
  const profiling = profileOf(world, predicates, { signal: caller.signal })
  await busyFor(300)
  caller.abort(gone)
  await t.rejects(profiling, gone)
  t.ok((await cpuOfNextSecond()) < cpuAfterMax)
  t.match(await profileOf(world, [], { rowsMax: 80 }), { rows: 80 }, 'the place is free again')
})

await t.test('many columns have the profiles that they have one by one', async (t) => {
  const columns = Array.from({ length: 130 }, (_, index) => `i % ${index + 1} AS c${index}`)
  const world = await openEngine(t, {
    files: { 'a.parquet': `SELECT ${columns.join(', ')} FROM range(300) t(i)` },
  })
  const whole = await profileOf(world, world.filter('c9', 'lt', '4'))
  t.equal(whole.rows, 120)
  t.equal(whole.columns.length, 130)
  for (const index of [0, 47, 48, 95, 96, 129]) {
    const one = await columnProfile(world, `c${index}`, world.filter('c9', 'lt', '4'))
    t.same(whole.columns[index], one, `c${index}`)
  }
  t.same(await profileOf(world, [], { columns: [] }), { rows: 300, columns: [] })
})
