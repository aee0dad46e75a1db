import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FileError } from '../../../src/versions/opener.js'
import { writeParquet } from '../../support/world.js'
import { openOne, openRows } from '../fixtures/open-file.js'

const plain = ', COMPRESSION uncompressed, ROW_GROUP_SIZE 2048'

async function reasonFor(path: string): Promise<string> {
  const cause = await openOne(path).catch((error: unknown) => error)
  return cause instanceof FileError ? cause.reason : 'served'
}

/** Changes bytes of the pages, or of the footer. */
function patchPart(path: string, part: 'pages' | 'footer', from: Buffer, to: Buffer): void {
  const bytes = readFileSync(path)
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8)
  const [start, end] = part === 'pages' ? [0, footer] : [footer, bytes.length]
  let at = bytes.indexOf(from, start)
  if (at === -1 || at >= end) throw new Error('nothing to patch')
  for (; at !== -1 && at < end; at = bytes.indexOf(from, at + 1)) to.copy(bytes, at)
  writeFileSync(path, bytes)
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

/** A value of row 3000, which is the largest, and another one that is beyond it or below it. */
const kinds: Readonly<Record<string, readonly [sql: string, largest: Buffer, other: Buffer]>> = {
  BIGINT: ['i + CASE WHEN i = 3000 THEN 98765 ELSE 0 END', int64(101_765n), int64(44_101_765n)],
  DOUBLE: ['CASE WHEN i = 3000 THEN 98765.25 ELSE i END', double(98765.25), double(1e12)],
  TIMESTAMP: [
    'make_timestamp(CASE WHEN i = 3000 THEN 1234567890123 ELSE i END)',
    int64(1_234_567_890_123n),
    int64(1_234_567_890_123_456n),
  ],
  'DECIMAL(18,2)': [
    'CASE WHEN i = 3000 THEN 98765.25 ELSE i END',
    int64(9_876_525n),
    int64(9_876_525_000n),
  ],
  VARCHAR: [
    "CASE WHEN i = 3000 THEN 'zyx' ELSE 'b' || i END",
    Buffer.from('zyx'),
    Buffer.from('~yx'),
  ],
}

await t.test('a file whose values its statistics exclude is refused', async (t) => {
  const folder = t.testdir({})
  for (const [type, [sql, largest, other]] of Object.entries(kinds)) {
    const path = join(folder, 'a.parquet')
    const select = `SELECT i, CAST(${sql} AS ${type}) AS v FROM range(5000) AS r(i)`
    for (const part of ['pages', 'footer'] as const) {
      await writeParquet(folder, { 'a.parquet': select }, plain)
      t.equal(await reasonFor(path), 'served', type)
      if (part === 'pages') patchPart(path, part, largest, other)
      else patchPart(path, part, largest, Buffer.from(largest).fill(0x31, 0, 2).fill(0, 2))
      t.match(
        await reasonFor(path),
        'has statistics that disagree with the values of column "v", row group 1 (from 0)',
        `${type}, changed ${part}`,
      )
    }
  }
})

await t.test('a file whose count of empty values is wrong is refused', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  // Parquet's footer holds the count, doubled, after the smallest value.
  const smallest = int64(98_765n)
  const count = (each: number) => Buffer.concat([smallest, Buffer.from([0x16, 2 * each])])
  for (const wrong of [0, 30, 62]) {
    const select = `SELECT CASE WHEN i < 60 THEN i + 98765 END AS v FROM range(63) AS r(i)`
    await writeParquet(folder, { 'a.parquet': select }, plain)
    t.equal(await reasonFor(path), 'served')
    patchPart(path, 'footer', count(3), count(wrong))
    t.match(await reasonFor(path), /^has statistics that disagree .* column "v", row group 0/)
  }
})

await t.test('statistics that hold no more than bounds are accepted', async (t) => {
  const long = "repeat('я', 300) || i"
  const cells = [
    `CASE WHEN i % 7 = 0 THEN 'nan'::DOUBLE WHEN i = 5 THEN '-inf' ELSE i END AS d`,
    `CASE WHEN i % 2 = 0 THEN -0.0 ELSE 0.0 END::FLOAT AS z`,
    `${long} AS s`,
    `encode(${long}) AS b`,
    `CAST(NULL AS DATE) AS n`,
    `CASE WHEN i = 1 THEN DATE 'infinity' ELSE DATE '2024-01-01' END AS day`,
    `md5(i::VARCHAR)::UUID AS u`,
    `[i, NULL] AS l`,
    `{'x': i} AS "s, x"`,
    `TIMESTAMPTZ '1800-01-01 00:00:00.123456+00' + to_days(i::INT) AS t`,
    `i::UBIGINT + 18446744073709540000 AS big`,
    `CASE WHEN i > 2100 THEN i % 2 = 0 END AS yes`,
    ...['f', 'g', 'p', 'r', 'rows', 'block', 'start', 'a0'].map((name) => `'x' || i AS ${name}`),
  ]
  const select = `SELECT ${cells.join(', ')} FROM range(5000) AS r(i)`
  const { rows } = await openRows(t, select, { writing: plain })
  t.equal(rows, 5000)
})
