import {
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { duckDbPacker } from '../../../src/engine/duckdb/pack/pack.js'
import { PackError } from '../../../src/versions/packing/packer.js'
import type { PackOrder, PackProgress } from '../../../src/versions/packing/packer.js'
import { never } from '../../engine/fixtures/open-engine.js'
import { orderOf, packedRows, rowsOf, tinyLayout } from '../../engine/fixtures/pack-files.js'
import { writeParquet } from '../../support/parquet.js'

const packFiles = duckDbPacker(tinyLayout)
const silent = { signal: never, report: () => undefined }

/** Seven thousand rows in two files, keys in no order, some of them empty or alike. */
const files = {
  'a.parquet': `SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE (i * 31) % 900 END AS k, i AS n,
    'a' || i AS name, -0.0::DOUBLE AS x, [i, NULL] AS l FROM range(4000) t(i)`,
  'b.parquet': `SELECT CASE WHEN i % 5 = 0 THEN NULL ELSE (i * 17) % 900 END AS k,
    CAST(i + 4000 AS INTEGER) AS n, 'b' || i AS name FROM range(3000) t(i)`,
}
const names = Object.keys(files)

async function sources(t: Test): Promise<string> {
  const folder = t.testdir({})
  await writeParquet(folder, files)
  return folder
}

await t.test('rows come out by key, empty ones last, equal ones as they were stored', async (t) => {
  const folder = await sources(t)
  const order = await orderOf(folder, names, ['k'])
  const reported: PackProgress[] = []
  const packed = await packFiles(order, { signal: never, report: (each) => reported.push(each) })
  t.same(
    packed.map(({ path, rows }) => [path.slice(folder.length), rows]),
    [
      ['/packed/000000.parquet', 3000],
      ['/packed/000001.parquet', 3000],
      ['/packed/000002.parquet', 1000],
    ],
  )
  const wanted = await rowsOf(
    `SELECT * FROM read_parquet(['${folder}/a.parquet', '${folder}/b.parquet'],
       union_by_name = true) ORDER BY k NULLS LAST, n`,
  )
  t.same(await packedRows(packed), wanted, 'n grows with the stored place')
  t.same(readdirSync(join(folder, 'packed')), [
    ...['000000.parquet', '000001.parquet', '000002.parquet', 'pack.json'],
  ])
  t.notOk(existsSync(`${order.target}.draft`), 'nothing is left beside it')
  t.same([...new Set(reported.map(({ stage }) => stage))], ['sorting', 'writing', 'verifying'])
  t.match(reported.at(-1), { stage: 'verifying', rowsDone: 7000, rows: 7000 })
  const [groups = ''] = await rowsOf(
    `SELECT max(row_group_num_rows) AS rows, any_value(compression) AS codec
     FROM parquet_metadata('${folder}/packed/000000.parquet')`,
  )
  t.same(JSON.parse(groups), { rows: 2048, codec: 'ZSTD' })
})

await t.test('any rows are packed like a stable sort orders them', async (t) => {
  const folder = t.testdir({})
  const cell = (values: string) =>
    fc.constantFrom(...values.split(' ')).map((text) => (text === '-' ? 'NULL' : text))
  const narrow = fc.array(fc.tuple(cell("'' 'a' 'A' 'я' 'z' -"), cell('1 2 -3 127 -')), {
    maxLength: 40,
  })
  const wide = fc.array(
    fc.tuple(cell("'' 'a' 'b' 'ю' -"), cell('1 2 40000000000 -'), cell('0.0 -0.0 1.5 -')),
    { maxLength: 40 },
  )
  const values = (rows: readonly (readonly string[])[], columns: string, types: string) => {
    const list = rows.map((row, index) => `(${row.join(', ')}, ${index})`).join(', ')
    const empty = `SELECT ${types}, 0 AS place WHERE false`
    return rows.length === 0
      ? empty
      : `SELECT ${types}, place FROM (VALUES ${list}) v(${columns}, place)`
  }
  let round = 0
  const property = fc.asyncProperty(narrow, wide, narrow, async (one, two, three) => {
    const small = 'CAST(k AS VARCHAR) AS k, CAST(v AS TINYINT) AS v'
    const large = 'CAST(k AS VARCHAR) AS k, CAST(v AS BIGINT) AS v, CAST(x AS DOUBLE) AS x'
    const nothing = (types: string) => types.replaceAll(/CAST\(\w+ AS/g, 'CAST(NULL AS')
    const text = (rows: readonly (readonly string[])[], columns: string, types: string) =>
      values(rows, columns, rows.length === 0 ? nothing(types) : types)
    round += 1
    const names = ['1', '2', '3'].map((name) => `${round}-${name}.parquet`)
    await writeParquet(folder, {
      [names[0] ?? '']: text(one, 'k, v', small),
      [names[1] ?? '']: text(two, 'k, v, x', large),
      [names[2] ?? '']: text(three, 'k, v', small),
    })
    const order = await orderOf(folder, names, ['k', 'v'])
    const tiny = { ...tinyLayout, fileRows: 7 }
    const target = join(folder, `packed-${round}`)
    const packed = await duckDbPacker(tiny)({ ...order, target }, silent)
    const list = names.map((name) => `'${join(folder, name)}'`).join(', ')
    const wanted = await rowsOf(
      `SELECT k, v, place, x FROM read_parquet([${list}], union_by_name = true)
       ORDER BY k NULLS LAST, v NULLS LAST, file_index, file_row_number`,
    )
    t.same(await packedRows(packed, 'k, v, place, x'), wanted)
  })
  await fc.assert(property, { numRuns: 12 })
})

await t.test(
  'columns of a path become columns of the file; without a key rows keep their order',
  async (t) => {
    const folder = await sources(t)
    const order = await orderOf(folder, names, [])
    const partitioned: PackOrder = {
      ...order,
      files: order.files.map((file, index) => ({
        ...file,
        partition: { year: index === 0 ? '2024' : null },
      })),
      columns: [...order.columns, { name: 'year', type: { kind: 'scalar', name: 'SMALLINT' } }],
    }
    const packed = await packFiles(partitioned, silent)
    const rows = await packedRows(packed, 'n, year')
    t.equal(rows[0], '{"n":0,"year":2024}')
    t.equal(rows[6999], '{"n":6999,"year":null}')
    t.same(
      rows.map((row) => Number(/"n":(\d+)/.exec(row)?.[1])),
      [...Array(7000).keys()],
    )
  },
)

await t.test('the next pack keeps the files that a stopped one finished', async (t) => {
  const folder = await sources(t)
  const order = await orderOf(folder, names, ['k'])
  const stop = new AbortController()
  const reason = new Error('enough')
  const report = ({ stage, rowsDone }: PackProgress) => {
    // The page names the first file once its batch is done: in the next one, or the verifying.
    if (stage === 'verifying' && rowsDone === 0) stop.abort(reason)
  }
  await t.rejects(packFiles(order, { signal: stop.signal, report }), reason)
  t.notOk(existsSync(order.target), 'a target is whole or not there')
  const draft = `${order.target}.draft`
  const first = statSync(join(draft, '000000.parquet'), { bigint: true })
  await t.test('by the next run', async (t) => {
    writeFileSync(join(draft, 'tmp_000001.parquet'), 'half a file')
    copyFileSync(join(draft, '000000.parquet'), join(draft, '000001.parquet'))
    const packed = await packFiles(order, silent)
    t.equal(statSync(packed[0]?.path ?? '', { bigint: true }).ino, first.ino, 'not written twice')
    const copied = statSync(packed[1]?.path ?? '').size
    t.not(copied, Number(first.size), 'a finished file that was damaged is written again')
    t.equal((await packedRows(packed)).length, 7000)
    t.same(readdirSync(order.target).length, 4)
  })
})

await t.test('a pack of the same files is kept, one of other files is replaced', async (t) => {
  const folder = await sources(t)
  const order = await orderOf(folder, names, ['k'])
  const [first] = await packFiles(order, silent)
  const before = statSync(first?.path ?? '').ino
  const [again] = await packFiles(order, silent)
  t.equal(statSync(again?.path ?? '').ino, before)
  const [other] = await packFiles({ ...order, key: ['n'] }, silent)
  t.not(statSync(other?.path ?? '').ino, before)
  t.match(readdirSync(folder).sort(), ['a.parquet', 'b.parquet', 'packed'])
  await t.rejects(packFiles({ ...order, dataset: 'else' }, silent), {
    message: 'The target folder already exists and is not a pack of "else".',
  })
})

await t.test('a type that Parquet would store as another is refused', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'a.parquet': 'SELECT 1::BIGINT AS id, 2 AS "2110"' })
  const order = await orderOf(folder, ['a.parquet'], ['id'])
  const columns = order.columns.map((column) =>
    column.name === 'id'
      ? { ...column, type: { kind: 'scalar', name: 'HUGEINT' } as const }
      : column,
  )
  const failure = await packFiles({ ...order, columns }, silent).catch((cause: unknown) => cause)
  t.ok(failure instanceof PackError)
  t.match(failure, {
    message: `Parquet can't hold every column without loss: "id" is HUGEINT, not DOUBLE.`,
  })
  t.same(readdirSync(folder), ['a.parquet'], 'nothing is left')
})

await t.test('every cell is compared: rows that differ from the sources are refused', async (t) => {
  const folder = await sources(t)
  const order = await orderOf(folder, names, ['k'])
  const [first, ...others] = order.files
  const fewer = { ...order, files: [{ ...first, rows: 3999 }, ...others] } as PackOrder
  await t.rejects(packFiles(fewer, silent), /differ from those of the files; nothing was kept/)
  t.same(readdirSync(folder).sort(), ['a.parquet', 'b.parquet'])
})

await t.test('a file that can not be read is named, not guessed', async (t) => {
  const folder = await sources(t)
  const order = await orderOf(folder, names, ['k'])
  const path = join(folder, 'b.parquet')
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.subarray(0, bytes.length - 8))
  await t.rejects(packFiles(order, silent), { name: 'FileError', path, message: /^can't be read/ })
  t.notOk(existsSync(order.target))
  writeFileSync(path, Buffer.from(bytes).fill(7, 4, 2000))
  await t.rejects(packFiles(order, silent), /Packing failed: .*`das dataset check --deep` finds/)
})
