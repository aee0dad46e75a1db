import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'

const longName = 'long '.repeat(200)
const wide = Array.from({ length: 400 }, (_, index) => `i + ${index} AS "${index}"`).join(', ')
const nested = `[{'m': MAP {'k': [1, NULL], 'l': []}, 's': {'x y': 1.5, '2110': NULL}}, NULL]`
const deep = `${'['.repeat(20)}1${']'.repeat(20)}`

/** Dataset → the SELECT of its file, how it is written, and the JSON text of its first row. */
export const servedFiles: Readonly<
  Record<string, readonly [select: string, writing: string, row?: string]>
> = {
  good: [`SELECT i AS id FROM range(100) t(i)`, '', '{"id":0}'],
  no_rows: [`SELECT i AS id FROM range(0) t(i)`, ''],
  columns_400: [`SELECT ${wide} FROM range(3) t(i)`, ''],
  row_groups: [`SELECT i AS id FROM range(60000) t(i)`, ', ROW_GROUP_SIZE 2048', '{"id":0}'],
  names: [
    `SELECT 1 AS "Имя", 2 AS "🦆", 3 AS "a.b", 4 AS "c d", 5 AS "q""q", 6 AS "it's", 7 AS "${longName}"`,
    '',
    `{"Имя":1,"🦆":2,"a.b":3,"c d":4,"q\\"q":5,"it's":6,"${longName}":7}`,
  ],
  line_break: [`SELECT 1 AS "a\nb"`, '', '{"a\\nb":1}'],
  ...Object.fromEntries(
    ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli'].flatMap((codec) =>
      ['v1', 'v2'].map((version) => [
        `${codec}_${version}`,
        [
          `SELECT 'text ' || i AS a, i * 0.5 AS b FROM range(3000) t(i)`,
          `, COMPRESSION ${codec}, PARQUET_VERSION ${version}`,
          '{"a":"text 0","b":0.0}',
        ] as const,
      ]),
    ),
  ),
  nested: [
    `SELECT ${nested} AS x`,
    '',
    '{"x":[{"m":{"k":[1,null],"l":[]},"s":{"x y":1.5,"2110":null}},null]}',
  ],
  deep: [`SELECT ${deep} AS x`, '', `{"x":${deep}}`],
  nulls: ['SELECT NULL::INTEGER AS a, NULL::VARCHAR[] AS b', '', '{"a":null,"b":null}'],
  floats: [
    `SELECT 'nan'::DOUBLE AS a, '-inf'::FLOAT AS b, -0.0::DOUBLE AS c, 5e-324::DOUBLE AS d`,
    '',
    '{"a":null,"b":null,"c":-0.0,"d":5e-324}',
  ],
  dates: [
    `SELECT '0044-03-15 (BC)'::DATE AS a, '12024-01-02'::DATE AS b, 'infinity'::DATE AS c`,
    '',
    '{"a":"-0043-03-15","b":"+12024-01-02","c":null}',
  ],
  decimals: [
    `SELECT '-99999999999999999999999999999999999999'::DECIMAL(38,0) AS a,
      '0.00000000000000000000000000000000000001'::DECIMAL(38,38) AS b`,
    '',
    '{"a":-99999999999999999999999999999999999999,"b":0.00000000000000000000000000000000000001}',
  ],
  bytes: [`SELECT '\\xFF\\x00'::BLOB AS a`, '', '{"a":"/wA="}'],
}

/** Dataset → bytes made of a whole Parquet file, and why they are refused. */
export const brokenFiles: Readonly<Record<string, readonly [(whole: Buffer) => Buffer, RegExp]>> = {
  empty: [() => Buffer.alloc(0), /is empty/],
  truncated: [(whole) => whole.subarray(0, whole.length - 20), /is not a whole Parquet file/],
  garbage: [(whole) => Buffer.from(whole.map((byte, at) => byte ^ (at * 31))), /not a whole/],
  wrong_magic: [(whole) => Buffer.concat([whole.subarray(0, -4), Buffer.from('PAR2')]), /no PAR1/],
  encrypted: [(whole) => Buffer.concat([whole.subarray(0, -4), Buffer.from('PARE')]), /encrypted/],
  encrypted_columns: [
    withEncryptedColumns,
    /^data\/encrypted_columns\.parquet is encrypted Parquet/,
  ],
  footer_too_long: [(whole) => withFooterLength(whole, 0xfffffff0), /footer is cut/],
  footer_too_short: [(whole) => withFooterLength(whole, 3), /can't be read/],
  footer_not_there: [(whole) => withFooterLength(whole, 0), /can't be read/],
  text: [() => Buffer.from('id,name\n1,a\n'), /no PAR1/],
  head_only: [(whole) => whole.subarray(0, 4), /not a whole/],
  pages_gone: [(whole) => Buffer.concat([whole.subarray(0, 4), whole.subarray(2000)]), /can't be/],
}

function withFooterLength(whole: Buffer, length: number): Buffer {
  const changed = Buffer.from(whole)
  changed.writeUInt32LE(length, whole.length - 8)
  return changed
}

/** Columns that only a key could read, behind a footer that is signed and open to all. */
export function withEncryptedColumns(whole: Buffer): Buffer {
  const lengthAt = whole.length - 8
  const footerAt = lengthAt - whole.readUInt32LE(lengthAt)
  // Thrift's compact form: field 8, a union whose first member is empty; field 9, two bytes; end.
  const fields = Buffer.from([0x0c, 0x10, 0x1c, 0, 0, 0x18, 2, 0xff, 0xff, 0])
  const footer = Buffer.concat([whole.subarray(footerAt, lengthAt - 1), fields])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  const pages = Buffer.alloc(footerAt - 4, 0xa5)
  return Buffer.concat([whole.subarray(0, 4), pages, footer, length, whole.subarray(-4)])
}

/** Dataset → how something that is no regular file is put at a path, and why it is refused. */
export const strangeFiles: Readonly<Record<string, readonly [(path: string) => unknown, RegExp]>> =
  {
    folder: [(path) => mkdirSync(path), /is a folder/],
    dangling: [(path) => symlinkSync(`${path}.gone`, path), /is not there/],
    loop: [(path) => symlinkSync(path, path), /can't be read \(ELOOP\)/],
    pipe: [(path) => execFileSync('mkfifo', [path]), /is not a regular file/],
    missing: [() => undefined, /is not there/],
  }

/** Dataset → SELECT of a file whose columns can't be asked for, and why it is refused. */
export const unaskableFiles: Readonly<Record<string, readonly [select: string, reason: RegExp]>> = {
  ...Object.fromEntries(
    ['select', 'limit', 'cursor', 'format'].map((name) => [
      `reserved_${name}`,
      [`SELECT 1 AS "${name}"`, /clashes with the request parameter/] as const,
    ]),
  ),
  file_row_number: ['SELECT 1 AS file_row_number', /a name that the engine uses/],
  file_index: ["SELECT 'x' AS FILE_INDEX", /a name that the engine uses/],
}
