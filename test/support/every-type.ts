/** A type that Parquet can hold: how DuckDB writes it, two of its values, and its JSON schema. */
export interface TypedColumn {
  readonly name: string
  readonly type: string
  readonly values: readonly string[]
  readonly schema: Readonly<Record<string, string>>
  /** Served a second time as a text, `<name>_text`: readers round its numbers. */
  readonly isWide?: true
}

const int32 = { type: 'integer', format: 'int32' }
const int64 = { type: 'integer', format: 'int64' }
const double = { type: 'number', format: 'double' }
const text = { type: 'string' }

export const everyType: readonly TypedColumn[] = [
  { name: 'tiny', type: 'TINYINT', values: ['-128', '127'], schema: int32 },
  { name: 'small', type: 'SMALLINT', values: ['-32768', '32767'], schema: int32 },
  { name: 'int', type: 'INTEGER', values: ['-2147483648', '2147483647'], schema: int32 },
  {
    name: 'big',
    type: 'BIGINT',
    values: ['-9223372036854775808', '9007199254740993'],
    schema: int64,
    isWide: true,
  },
  { name: 'utiny', type: 'UTINYINT', values: ['0', '255'], schema: int32 },
  { name: 'usmall', type: 'USMALLINT', values: ['0', '65535'], schema: int32 },
  { name: 'uint', type: 'UINTEGER', values: ['3046943699', '4294967295'], schema: int64 },
  { name: 'ubig', type: 'UBIGINT', values: ['0', '18446744073709551615'], schema: text },
  {
    name: 'single',
    type: 'FLOAT',
    values: ['0.1', '3.4028235e38'],
    schema: { type: 'number', format: 'float' },
  },
  { name: 'double', type: 'DOUBLE', values: ['5e-324', '1.7976931348623157e308'], schema: double },
  { name: 'money', type: 'DECIMAL(11,2)', values: ['111325662.92', '-0.10'], schema: double },
  {
    name: 'sum',
    type: 'DECIMAL(18,2)',
    values: ['9999999999999999.99', '-1234567890123456.78'],
    schema: double,
    isWide: true,
  },
  {
    name: 'wide',
    type: 'DECIMAL(38,10)',
    values: ['1234567890123456789012345678.0123456789', '-0.0000000001'],
    schema: double,
    isWide: true,
  },
  { name: 'flag', type: 'BOOLEAN', values: ['true', 'false'], schema: { type: 'boolean' } },
  { name: 'words', type: 'VARCHAR', values: ['Ёлка 🦆 "\\', ''], schema: text },
  {
    name: 'id',
    type: 'UUID',
    values: ['00000000-0000-0000-0000-00000000000a', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    schema: { type: 'string', format: 'uuid' },
  },
  {
    name: 'day',
    type: 'DATE',
    values: ['0001-01-01', '9999-12-31'],
    schema: { type: 'string', format: 'date' },
  },
  { name: 'clock', type: 'TIME', values: ['00:00:00', '23:59:59.999999'], schema: text },
  { name: 'second', type: 'TIMESTAMP_S', values: ['2024-02-29 12:00:00'], schema: text },
  { name: 'milli', type: 'TIMESTAMP_MS', values: ['2024-02-29 12:00:00.123'], schema: text },
  { name: 'micro', type: 'TIMESTAMP', values: ['1969-12-31 23:59:59.999999'], schema: text },
  { name: 'nano', type: 'TIMESTAMP_NS', values: ['2024-01-02 03:04:05.123456789'], schema: text },
  {
    name: 'zoned',
    type: 'TIMESTAMPTZ',
    values: ['2024-01-31 09:30:00.123456+03', '1900-01-01 00:00:00+00'],
    schema: { type: 'string', format: 'date-time' },
  },
  {
    name: 'bytes',
    type: 'BLOB',
    values: ['\\x00\\xFF', ''],
    schema: { type: 'string', contentEncoding: 'base64' },
  },
  { name: 'gap', type: 'INTERVAL', values: ['1 month 2 days'], schema: text },
  { name: 'list', type: 'INTEGER[]', values: ['[1, NULL]', '[]'], schema: {} },
  { name: 'struct', type: 'STRUCT(a VARCHAR)', values: ["{'a': 'x'}"], schema: {} },
  { name: 'map', type: 'MAP(VARCHAR, INTEGER)', values: ['{k=1}'], schema: {} },
  { name: 'tree', type: 'JSON', values: ['{"a": 1.5}', '[]'], schema: {} },
]

const wide = everyType.filter(({ isWide }) => isWide)

/** Three rows: two with values and one that is empty. */
export const everySelect = `SELECT ${everyType
  .map(({ name, type, values }) => {
    const texts = [...values, null, null].slice(0, 2)
    const cast = texts.map((value) =>
      value === null ? 'NULL' : `CAST('${value.replaceAll("'", "''")}' AS ${type})`,
    )
    const list = `CAST([${cast.join(', ')}, NULL] AS ${type}[])`
    return [name, ...(wide.some((each) => each.name === name) ? [`${name}_text`] : [])]
      .map((column) => `unnest(${list}) AS ${column}`)
      .join(', ')
  })
  .join(', ')}`

/** The dataset `every` for a registry, over a file that `everySelect` writes. */
export function everyEntry(file: string): string {
  const texts = wide.map(({ name }) => `${name}_text: {json: string}`).join(', ')
  return `  every:
    title: Every type
    files: ${file}
    columns: {${texts}}
    limit: {default: 2, max: 1000}
    plans: {pro: {rows_per_month: 1000000, history: all, price_rub: 0, rate_per_minute: 1000000}}
`
}
