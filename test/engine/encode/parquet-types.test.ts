import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parquetValue } from '../../../src/engine/duckdb/encode/parquet-types.js'
import { dataTypeOf } from '../../../src/engine/duckdb/open/parquet-columns.js'
import { identifier } from '../../../src/engine/sql/quote.js'
import { readCells, withDuckDb } from '../../support/parquet.js'

// Guarantee: a Parquet page holds every value as it is, in its own type or one that keeps it whole.

interface Written {
  readonly sourceTypes: Readonly<Record<string, string>>
  readonly types: Readonly<Record<string, string>>
  /** Values as texts, of the source and of the file. */
  readonly expected: Readonly<Record<string, readonly unknown[]>>
  readonly texts: Readonly<Record<string, readonly unknown[]>>
}

/** Writes the columns of a SELECT as pages do, and reads them again. */
async function write(t: Test, select: string): Promise<Written> {
  return withDuckDb(async (connection) => {
    const source = await connection.run(`${select} LIMIT 0`)
    const names = source.columnNames()
    const cells = names.map((name, index) => {
      const value = parquetValue(dataTypeOf(source.columnType(index)), identifier(name))
      return `${value} AS ${identifier(name)}`
    })
    const path = join(t.testdir({}), 'written.parquet')
    await connection.run(`COPY (SELECT ${cells.join(', ')} FROM (${select})) TO '${path}'`)
    const texts = `SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (${select})`
    const stored = (await connection.runAndReadAll(texts)).getRowsJS()
    const { types, rows } = await readCells(path)
    const byName = <T>(value: (index: number) => T) =>
      Object.fromEntries(names.map((name, index) => [name, value(index)]))
    return {
      sourceTypes: byName((index) => source.columnType(index).toString()),
      types: byName((index) => types[index] ?? ''),
      expected: byName((index) => stored.map((row) => row[index])),
      texts: byName((index) => rows.map((row) => row[index])),
    }
  })
}

/** Columns of `test_all_types()` that come back as another type. */
const others: Readonly<Record<string, string>> = {
  uhugeint: 'VARCHAR',
  bignum: 'VARCHAR',
  timestamp_s: 'TIMESTAMP',
  // Of milliseconds in the file; DuckDB reads every unit but nanoseconds as this.
  timestamp_ms: 'TIMESTAMP',
  interval: 'VARCHAR',
  bit: 'VARCHAR',
  small_enum: 'VARCHAR',
  medium_enum: 'VARCHAR',
  large_enum: 'VARCHAR',
  union: 'VARCHAR',
  fixed_int_array: 'INTEGER[]',
  fixed_varchar_array: 'VARCHAR[]',
  fixed_nested_int_array: 'INTEGER[][]',
  fixed_nested_varchar_array: 'VARCHAR[][]',
  fixed_struct_array: 'STRUCT("a" INTEGER, "b" VARCHAR)[]',
  struct_of_fixed_array: 'STRUCT("a" INTEGER[], "b" VARCHAR[])',
  fixed_array_of_int_list: 'INTEGER[][]',
  list_of_fixed_int_array: 'INTEGER[][]',
  geometry: 'VARCHAR',
}
/** They hold what no file of a dataset can: such integers, such zones. */
const impossible = ['hugeint', 'time_tz']

await t.test('the smallest and the largest value of every type, and null', async (t) => {
  const select = `SELECT * EXCLUDE (${impossible.join(', ')}) FROM test_all_types()`
  const { sourceTypes, types, expected, texts } = await write(t, select)
  t.ok(Object.keys(types).length > 50)
  t.strictSame(types, { ...sourceTypes, ...others })
  t.strictSame(texts, expected)
})

const numbers = `'{"a": 12345678901234567890123, "b": 1.10}'`

/** SQL expression → its type and its text in a file. */
const cells: Readonly<Record<string, readonly [type: string, text: string | null]>> = {
  // Integers beyond 64 bits come of columns that are widened over files.
  '18446744073709551615::HUGEINT': ['DECIMAL(38,0)', '18446744073709551615'],
  '(-9223372036854775808)::HUGEINT': ['DECIMAL(38,0)', '-9223372036854775808'],
  '[1::HUGEINT, NULL]': ['DECIMAL(38,0)[]', '[1, NULL]'],
  '18446744073709551615::UBIGINT': ['UBIGINT', '18446744073709551615'],
  "'nan'::FLOAT": ['FLOAT', 'nan'],
  "'-inf'::DOUBLE": ['DOUBLE', '-inf'],
  "['nan'::DOUBLE, 'inf', '-0', 5e-324]": ['DOUBLE[]', '[nan, inf, -0.0, 5e-324]'],
  "'0.00000000000000000000000000000000000001'::DECIMAL(38,38)": [
    'DECIMAL(38,38)',
    '.00000000000000000000000000000000000001',
  ],
  "TIMETZ '01:02:03.000004+00'": ['TIME WITH TIME ZONE', '01:02:03.000004+00'],
  "TIMESTAMP_NS '2024-01-02 03:04:05.123456789'": ['TIMESTAMP_NS', '2024-01-02 03:04:05.123456789'],
  "TIMESTAMPTZ '2024-01-02 03:04:05.000001+03'": [
    'TIMESTAMP WITH TIME ZONE',
    '2024-01-02 00:04:05.000001+00',
  ],
  "INTERVAL '-1 month 2 days 0.000003 seconds'": ['VARCHAR', '-1 month 2 days 00:00:00.000003'],
  "'POINT (0.1 1e300)'::GEOMETRY": ['VARCHAR', 'POINT (0.1 1e+300)'],
  [`${numbers}::JSON`]: ['JSON', '{"a": 12345678901234567890123, "b": 1.10}'],
  "{'e': 'a'::ENUM('a', 'b'), 'odd \"name\"': [INTERVAL '1 day']}": [
    'STRUCT("e" VARCHAR, "odd ""name""" VARCHAR[])',
    `{'e': a, 'odd "name"': [1 day]}`,
  ],
  "MAP {'k': 1::HUGEINT}": ['MAP(VARCHAR, DECIMAL(38,0))', '{k=1}'],
  'MAP {}::MAP(VARCHAR, DOUBLE)': ['MAP(VARCHAR, DOUBLE)', '{}'],
  // A VARIANT is JSON, as in JSON pages.
  '99999999999999999999.99::DECIMAL(38,2)::VARIANT': ['JSON', '99999999999999999999.99'],
  "{'d': DATE '2024-01-02', 't': 'x'}::VARIANT": ['JSON', '{"d":"2024-01-02","t":"x"}'],
  "[1::VARIANT, 'x'::VARIANT, NULL]": ['JSON', '[1,"x",null]'],
  "{'v': 1::VARIANT, 'n': 2}": ['JSON', '{"v":1,"n":2}'],
  'NULL::VARIANT': ['JSON', null],
}

await t.test('values that are easily lost', async (t) => {
  const list = Object.keys(cells).map((x) => `${x} AS ${identifier(x)}`)
  const { types, texts } = await write(t, `SELECT ${list.join(', ')}`)
  const found = Object.keys(cells).map((x) => [x, [types[x], ...(texts[x] ?? [])]])
  t.strictSame(Object.fromEntries(found), cells)
})
