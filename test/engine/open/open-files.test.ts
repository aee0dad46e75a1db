import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { typeText } from '../../../src/columns/data-type.js'
import { duckDbOpener } from '../../../src/engine/duckdb/open/open-files.js'
import { FileError } from '../../../src/versions/opener.js'
import { withEncryptedColumns } from '../../support/odd-files.js'
import { writeParquet } from '../../support/world.js'
import { openEngine, openFolder } from '../fixtures/open-engine.js'
import { openFiles, openOne, openRows, patch } from '../fixtures/open-file.js'

async function reasonFor(path: string): Promise<string> {
  const cause = await openOne(path).catch((error: unknown) => error)
  if (!(cause instanceof FileError)) throw new Error(`no FileError: ${String(cause)}`)
  return cause.reason
}

/** SQL type → what Parquet makes of it. */
const storedTypes = {
  TINYINT: 'TINYINT',
  SMALLINT: 'SMALLINT',
  INTEGER: 'INTEGER',
  BIGINT: 'BIGINT',
  UTINYINT: 'UTINYINT',
  USMALLINT: 'USMALLINT',
  UINTEGER: 'UINTEGER',
  UBIGINT: 'UBIGINT',
  HUGEINT: 'DOUBLE',
  UHUGEINT: 'DOUBLE',
  FLOAT: 'FLOAT',
  DOUBLE: 'DOUBLE',
  'DECIMAL(4,1)': 'DECIMAL(4,1)',
  'DECIMAL(38,38)': 'DECIMAL(38,38)',
  VARCHAR: 'VARCHAR',
  BOOLEAN: 'BOOLEAN',
  UUID: 'UUID',
  BLOB: 'BLOB',
  DATE: 'DATE',
  TIME: 'TIME',
  TIME_NS: 'TIME_NS',
  TIMETZ: 'TIME WITH TIME ZONE',
  TIMESTAMP_S: 'TIMESTAMP',
  TIMESTAMP_MS: 'TIMESTAMP',
  TIMESTAMP: 'TIMESTAMP',
  TIMESTAMP_NS: 'TIMESTAMP_NS',
  TIMESTAMPTZ: 'TIMESTAMPTZ',
  INTERVAL: 'INTERVAL',
  VARIANT: 'VARIANT',
  "ENUM('a', 'b')": 'VARCHAR',
  'INTEGER[]': 'INTEGER[]',
  'INTEGER[3]': 'INTEGER[]',
  'DECIMAL(4,1)[][]': 'DECIMAL(4,1)[][]',
  'STRUCT("2110" INTEGER, "a ""b""" VARCHAR[])': 'STRUCT("2110" INTEGER, "a ""b""" VARCHAR[])',
  'MAP(DATE, STRUCT(x DOUBLE))': 'MAP(DATE, STRUCT("x" DOUBLE))',
} as const

await t.test('types are those that the file holds', async (t) => {
  const cells = Object.keys(storedTypes).map((type, index) => `CAST(NULL AS ${type}) AS c${index}`)
  const { rows, columns } = await openRows(t, `SELECT ${cells.join(', ')} FROM range(3)`)
  t.equal(rows, 3)
  t.strictSame(
    columns.map(({ type }) => typeText(type)),
    Object.values(storedTypes),
  )
  t.notOk(columns.some(({ required }) => required))
})

await t.test(
  "a column that can't hold empty values is required, also behind nested ones",
  async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'a.parquet')
    const columns = [
      'STRUCT(b INTEGER[], c MAP(VARCHAR, INTEGER))',
      'INTEGER',
      'INTEGER[]',
      'INTEGER',
    ]
    const cells = columns.map((type, index) => `CAST(NULL AS ${type}) AS "${'adef'[index]}"`)
    await writeParquet(folder, { 'a.parquet': `SELECT ${cells.join(', ')} WHERE false` })
    // DuckDB writes every column as optional; in Parquet's footer that is one byte before the name.
    patch(path, '\x25\x02\x18\x01d', '\x25\x00\x18\x01d')
    patch(path, '\x35\x02\x18\x01e', '\x35\x00\x18\x01e')
    const opened = await openOne(path)
    t.equal(opened.rows, 0)
    t.strictSame(
      opened.columns.map(({ name, required }) => [name, required]),
      [
        ['a', false],
        ['d', true],
        ['e', true],
        ['f', false],
      ],
    )
  },
)

await t.test('names may have any form', async (t) => {
  const names = ['2110', 'a"b', "it's", 'c.d e', 'Имя', '🦆', ' ', 'back\\slash', 'a, b', 'x0', '%']
  const cells = names.map((name, index) => `${index} AS "${name.replaceAll('"', '""')}"`)
  const nested = `{'b': 7} AS a, [1] AS lambda`
  const { columns, bounds } = await openRows(t, `SELECT ${cells.join(', ')}, ${nested}`, {
    boundsOf: names,
  })
  t.strictSame(
    columns.map(({ name }) => name),
    [...names, 'a', 'lambda'],
  )
  // DuckDB shows a name with a comma like a nested one: its bounds are read from the column.
  t.strictSame(
    [...bounds],
    names.map((name, index) => [name, { min: `${index}`, max: `${index}`, isFull: true }]),
  )
  const world = await openEngine(t, { files: { 'a.parquet': `SELECT ${cells.join(', ')}` } })
  const { rows } = await world.read([])
  const members = names.map((name, index) => `${JSON.stringify(name)}:${index}`)
  t.equal(rows[0]?.json, `{${members.join(',')}}`, 'served in stored order, digits too')
})

await t.test(
  'columns of one name, or of names that differ only in case, are refused',
  async (t) => {
    const folder = t.testdir({})
    const files = { 'a.parquet': 'SELECT 1 AS "aB", 2 AS "cD"' }
    await writeParquet(folder, { ...files, 'b.parquet': files['a.parquet'] })
    patch(join(folder, 'a.parquet'), 'cD', 'Ab')
    patch(join(folder, 'b.parquet'), 'cD', 'aB')
    const rule = 'names must differ in more than case: rename one'
    t.equal(await reasonFor(join(folder, 'a.parquet')), `has columns "aB" and "Ab"; ${rule}`)
    t.equal(await reasonFor(join(folder, 'b.parquet')), `has twice a column "aB"; ${rule}`)
  },
)

await t.test('fields of a struct whose names differ only in case are refused', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  const rule = 'names must differ in more than case: rename one'
  const structs = {
    "{'aB': 1, 'cD': 2} AS s": ['fields "aB" and "Ab"', 'Ab'],
    "{'aB': 1, 'cD': 2} AS s, 1 AS x": ['twice a field "aB"', 'aB'],
    "[{'y': 1, 'x': [{'aB': 1, 'cD': 2}]}] AS s": ['fields "aB" and "Ab"', 'Ab'],
    "MAP {1: {'aB': 1, 'cD': 2}} AS s": ['fields "aB" and "AB"', 'AB'],
  } as const
  for (const [cells, [words, name]] of Object.entries(structs)) {
    await writeParquet(folder, { 'a.parquet': `SELECT ${cells}` })
    patch(path, 'cD', name)
    t.equal(await reasonFor(path), `has ${words} inside "s"; ${rule}`)
  }
  const twins = "SELECT {'a': 1, 'b': {'a': 2}} AS a, {'a': 1} AS b"
  t.equal((await openRows(t, twins)).rows, 1, 'fields of different structs may share a name')
})

await t.test('a column without a name is refused', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  for (const other of ['', ', 3 AS C1, 4 AS C2']) {
    await writeParquet(folder, { 'a.parquet': `SELECT 1 AS id, 2 AS "é"${other}` })
    dropName(path, 'é')
    t.equal(await reasonFor(path), 'has a column without a name, number 2: name it')
  }
})

await t.test('a column with a NUL in its name is refused', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'a.parquet': 'SELECT 1 AS id, 2 AS some_name' })
  patch(join(folder, 'a.parquet'), 'some_name', 'some\0name')
  const reason = await reasonFor(join(folder, 'a.parquet'))
  t.equal(reason, 'has a column with a NUL in its name, number 2: rename it')
})

await t.test('a column whose name begins with a byte order mark is refused', async (t) => {
  const folder = t.testdir({})
  await writeParquet(folder, { 'a.parquet': 'SELECT 1 AS id, 2 AS "\ufeffinn", 3 AS "b\ufeffc"' })
  const reason = await reasonFor(join(folder, 'a.parquet'))
  const what = 'has a column whose name begins with a byte order mark, U+FEFF: "inn", number 2'
  t.equal(reason, `${what}: rename it`)
})

/** Leaves a name out of the footer, which gets shorter. */
function dropName(path: string, name: string): void {
  const bytes = readFileSync(path)
  const from = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8)
  const text = bytes.toString('latin1', from, bytes.length - 8)
  const own = Buffer.from(name).toString('latin1')
  const footer = Buffer.from(text.replaceAll(`\x02${own}`, '\0'), 'latin1')
  const end = Buffer.from('0000PAR1')
  end.writeUInt32LE(footer.length)
  writeFileSync(path, Buffer.concat([bytes.subarray(0, from), footer, end]))
}

await t.test('a file without columns is refused', async (t) => {
  // Parquet's footer by hand: version 1, a schema of no columns, no rows, no row groups.
  const schema = [0x48, 0x06, ...Buffer.from('schema'), 0x15, 0x00, 0x00]
  const footer = [0x15, 0x02, 0x19, 0x1c, ...schema, 0x16, 0x00, 0x19, 0x0c, 0x00]
  const path = join(t.testdir({}), 'a.parquet')
  const length = [footer.length, 0, 0, 0]
  const magic = [...Buffer.from('PAR1')]
  writeFileSync(path, Buffer.from([...magic, ...footer, ...length, ...magic]))
  t.match(await reasonFor(path), /column/)
})

await t.test('a file that is not complete Parquet is refused, without its path', async (t) => {
  const folder = t.testdir({ 'empty.parquet': '', 'text.parquet': 'PAR1 this is text PAR1' })
  await writeParquet(folder, { 'whole.parquet': 'SELECT i FROM range(100) t(i)' })
  const whole = readFileSync(join(folder, 'whole.parquet'))
  writeFileSync(join(folder, 'cut.parquet'), whole.subarray(0, whole.length - 20))
  for (const name of ['empty', 'text', 'cut', 'missing']) {
    const reason = await reasonFor(join(folder, `${name}.parquet`))
    t.match(reason, /^can't be read: .* \((IO|Invalid Input)\)$/, name)
    t.notMatch(reason, folder)
  }
})

await t.test(
  'columns that are encrypted behind a readable footer are reported as encrypted',
  async (t) => {
    const folder = t.testdir({})
    const path = join(folder, 'a.parquet')
    await writeParquet(folder, { 'a.parquet': 'SELECT i FROM range(100) t(i)' })
    writeFileSync(path, withEncryptedColumns(readFileSync(path)))
    t.equal(await reasonFor(path), 'is encrypted Parquet, which is not supported')
  },
)

await t.test('if memory is too small, the reason says what to change', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  await writeParquet(folder, { 'a.parquet': "SELECT repeat('x', 20_000_000) AS x" })
  await t.rejects(duckDbOpener(16 * 1024 ** 2)([path], []), {
    name: 'FileError',
    path,
    reason: /^can't be read: reading it takes more memory than is free; .*--memory-limit/,
  })
  t.equal((await openOne(path)).rows, 1)
})

await t.test('a map that holds a key twice is served unchanged', async (t) => {
  const folder = t.testdir({})
  const select = `SELECT MAP {'key_a': 1.5, 'key_b': 2.5} AS x`
  await writeParquet(join(folder, 'data'), { 'a.parquet': select }, ', COMPRESSION uncompressed')
  patch(join(folder, 'data', 'a.parquet'), 'key_b', 'key_a')
  const { columns } = await openOne(join(folder, 'data', 'a.parquet'))
  t.equal(typeText(columns[0]?.type ?? { kind: 'other', name: '' }), 'MAP(VARCHAR, DECIMAL(2,1))')

  const { rows } = await (await openFolder(t, folder)).read([])
  t.equal(rows[0]?.json, '{"x":{"key_a":1.5,"key_a":2.5}}')
})

await t.test('a poisoned file is refused, and the next one opens', async (t) => {
  const folder = t.testdir({})
  const select = 'SELECT CAST(i AS VARIANT) AS x FROM range(5) t(i)'
  await writeParquet(folder, { 'good.parquet': select, 'poisoned.parquet': select })
  patch(join(folder, 'poisoned.parquet'), 'value', 'valux')
  t.match(await reasonFor(join(folder, 'poisoned.parquet')), /\(INTERNAL\)$/)
  t.equal((await openOne(join(folder, 'good.parquet'))).rows, 5)
})

await t.test(
  'several files are opened in their order, and the first bad one is named',
  async (t) => {
    const folder = t.testdir({ 'bad.parquet': 'bad' })
    await writeParquet(folder, {
      '1.parquet': 'SELECT 1 AS x',
      '2.parquet': 'SELECT 1 AS y, 2 AS z',
    })
    const paths = ['2.parquet', '1.parquet'].map((name) => join(folder, name))
    const opened = await openFiles(paths, [])
    t.strictSame(
      opened.map(({ columns }) => columns.length),
      [2, 1],
    )
    const bad = join(folder, 'bad.parquet')
    await t.rejects(openFiles([...paths, bad], []), { name: 'FileError', path: bad })
  },
)

await t.test('many files are opened together as they are one by one', async (t) => {
  const folder = t.testdir({})
  const selects = [
    `SELECT i AS id, 'n' || i AS name FROM range(20) t(i)`,
    `SELECT i AS id, 'n' || i AS name FROM range(12_000) t(i)`,
    `SELECT i AS id, 'n' || i AS name FROM range(20) t(i) WHERE false`,
    `SELECT i::INTEGER AS id, 'n' || i AS name FROM range(20) t(i)`,
    `SELECT 'n' || i AS name, i AS id FROM range(20) t(i)`,
    `SELECT NULL::BIGINT AS id, repeat('я', 300 + i::INTEGER) AS name FROM range(3) t(i)`,
    `SELECT i + 7 AS id, repeat('я', 300 + i::INTEGER) AS name FROM range(3) t(i)`,
    `SELECT i AS id, DATE '2024-01-01' + i::INTEGER AS name FROM range(20) t(i)`,
  ]
  const names = Array.from({ length: 140 }, (_, index) => `${index}.parquet`)
  const select = (index: number) => selects[(index * 5) % selects.length] ?? ''
  await writeParquet(folder, Object.fromEntries(names.map((name, index) => [name, select(index)])))
  const paths = names.map((name) => join(folder, name))
  const opened = await openFiles([...paths, ...paths.slice(0, 2)], ['name', 'id'])
  t.equal(opened.length, 142, 'a path that is given twice has two answers')
  const alone = await Promise.all(
    paths.slice(0, selects.length).map((path) => openOne(path, ['name', 'id'])),
  )
  for (const [index, file] of opened.entries()) {
    t.strictSame(file, alone[(index % paths.length) % selects.length], `file ${index}`)
  }
})

await t.test('of several bad files among many the first is named', async (t) => {
  const folder = t.testdir({})
  const good = 'SELECT CAST(i AS VARIANT) AS x FROM range(5) t(i)'
  const names = Array.from({ length: 20 }, (_, index) => `${index}.parquet`)
  await writeParquet(folder, Object.fromEntries(names.map((name) => [name, good])))
  const paths = names.map((name) => join(folder, name))
  // Shows only when rows are read, and is fatal to its instance; the later one shows at once.
  patch(join(folder, '11.parquet'), 'value', 'valux')
  writeFileSync(join(folder, '17.parquet'), 'bad')
  await t.rejects(openFiles(paths, []), { name: 'FileError', path: paths[11], reason: /INTERNAL/ })
  await t.rejects(openFiles(paths.slice(12), []), { name: 'FileError', path: paths[17] })
})

await t.test('rows are counted as they are read, whatever the footer says of them', async (t) => {
  const folder = t.testdir({})
  const path = join(folder, 'a.parquet')
  await writeParquet(folder, { 'a.parquet': 'SELECT i AS x FROM range(6) t(i)' })
  // In the footer: the rows of the whole file, before the list of its one row group.
  patch(path, '\x16\x0c\x19\x1c', '\x16\x00\x19\x1c')
  const { rows, bounds } = await openOne(path, ['x'])
  t.equal(rows, 6)
  t.strictSame(bounds.get('x'), { min: '0', max: '5', isFull: true })
})

await t.test('JSON that can not be parsed is named, with the way on', async (t) => {
  const folder = t.testdir({})
  const select = `SELECT CAST('{"a": ' || i || '}' AS JSON) AS j FROM range(3) t(i)`
  await writeParquet(folder, { 'a.parquet': select }, ', COMPRESSION uncompressed')
  patch(join(folder, 'a.parquet'), '{"a": 1}', '{"a": x}')
  const reason = await reasonFor(join(folder, 'a.parquet'))
  t.match(reason, /^has a column that can't be read, "j".*: .*JSON found in the file: /)
  t.match(reason, /; write its values as JSON, or the column as plain text$/)
})

await t.test('a file of many columns opens in little memory', async (t) => {
  const folder = t.testdir({})
  const columns = Array.from({ length: 1500 }, (_, at) => `${at} AS c${at}`)
  await writeParquet(folder, { 'a.parquet': `SELECT ${columns.join(', ')}` })
  const [file] = await duckDbOpener(32 * 1024 ** 2)([join(folder, 'a.parquet')], [])
  t.equal(file?.columns.length, 1500)
})

await t.test('a file of very many columns is refused, with the way on', async (t) => {
  const folder = t.testdir({})
  const columns = Array.from({ length: 10_001 }, (_, index) => `${index} AS c${index}`)
  await writeParquet(folder, { 'too-wide.parquet': `SELECT ${columns.join(', ')}` })
  t.match(
    await reasonFor(join(folder, 'too-wide.parquet')),
    /^has 10001 columns, and at most 10000 are served; write rows of \(key, name, value\)/,
  )
})
