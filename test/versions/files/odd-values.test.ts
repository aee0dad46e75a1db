import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { FileError } from '../../../src/versions/opener.js'
import { openFiles } from '../../engine/fixtures/open-file.js'
import { bring, forms } from '../../support/brought-files.js'
import type { Outcome } from '../../support/brought-files.js'
import { writeParquet } from '../../support/parquet.js'

// Guarantee: what the engine would read otherwise than the file says is read rightly, or refused
// with file, column and row; nothing that is served can fail later.

const refused = {
  'decimal39.parquet':
    /data\/decimal39\.parquet has a column of more than 38 digits, "x" \(DECIMAL\(39,2\)\), .*as text/,
  'byte_stream_split_integer.parquet':
    /data\/byte.*\.parquet has a column that can't be read, "n": BYTE_STREAM_SPLIT.*such as PLAIN/,
  'invalid_utf8.parquet':
    /data\/invalid_utf8\.parquet has a column that can't be read, "s", row 321 \(counted from 0\): .*write its texts as UTF-8/,
}

for (const [field, reason] of Object.entries(refused)) {
  await t.test(`${field} is refused with its column`, async (t) => {
    const outcome = await bring(t, { field })
    t.match(outcome.reason, reason)
    t.match(outcome.check, reason)
    t.match(outcome.check, /^things: refused/)
    t.notMatch(outcome.reason, process.cwd(), 'no path')
  })
}

await t.test('texts with statistics in another order are found', async (t) => {
  for (const lines of ['', '    key: s', '    key: id']) {
    const { ask } = await bring(t, {
      field: 'signed_statistics.parquet',
      files: { 'data/other.parquet': "SELECT 100 AS id, 'нить' AS s" },
      lines,
    })
    for (const form of lines === '' ? (['dropped'] as const) : forms) {
      t.match(await ask(form, 's=eq.Quartz&select=id'), '{"data":[{"id":1}],', form)
      t.match(
        await ask(form, 's=in.amber,nord&select=id&limit=9'),
        /^{"data":\[{"id":3},{"id":7}\],/,
      )
      const others = JSON.parse(await ask(form, 's=ne.Quartz&select=id')) as { data: unknown[] }
      t.equal(others.data.length, 8)
      t.match(await ask(form, 's=like.Б*&select=id'), '{"data":[{"id":2}],')
      t.match(await ask(form, 's=contains.quartz&select=id'), '{"data":[{"id":1}],')
      const summary = await ask(form, 'measures=min(s),max(s),count', 'aggregate')
      t.match(summary, '"min(s)":"42"')
    }
  }
})

await t.test('zeros of both signs are packed as they are', async (t) => {
  const { ask } = await bring(t, { field: 'negative_zero.parquet', lines: '    key: id' })
  for (const form of forms) {
    const rows = await ask(form, 'limit=1000&select=x')
    t.ok(rows.includes('{"x":-0.0}') && rows.includes('{"x":0.0}'), form)
  }
})

await t.test('texts that begin with U+FEFF are found in every file and form', async (t) => {
  for (const lines of ['', '    key: s', '    key: id']) {
    const { ask } = await bring(t, {
      files: {
        'data/a.parquet': "SELECT 1 AS id, 'a' AS s UNION ALL SELECT 2, 'b'",
        'data/b.parquet': "SELECT 3 AS id, chr(65279) || 'a' AS s UNION ALL SELECT 4, chr(65279)",
      },
      lines,
    })
    for (const form of lines === '' ? (['dropped'] as const) : forms) {
      t.match(await ask(form, 's=eq.%EF%BB%BFa'), '{"data":[{"id":3,"s":"\ufeffa"}],', form)
      t.match(await ask(form, 's=in.b,%EF%BB%BF&select=id'), '{"data":[{"id":2},{"id":4}],', form)
      t.match(await ask(form, 's=eq.a'), '{"data":[{"id":1,"s":"a"}],', form)
      const summary = await ask(form, 'measures=max(s)', 'aggregate')
      t.match(summary, '"max(s)":"\ufeffa"')
    }
  }
})

await t.test('the earliest nanoseconds are served as they are', async (t) => {
  const { ask, reason } = await bring(t, { field: 'nanosecond_1677.parquet', lines: '    key: id' })
  t.equal(reason, null)
  for (const form of forms) {
    t.match(await ask(form, 'id=eq.1500'), '[{"id":1500,"t":"1677-09-22T00:00:00"}]', form)
    t.match(await ask(form, 't=lt.1700-01-01T00:00:00&select=id'), '[{"id":1500}]')
    t.match(
      await ask(form, 'group=t&measures=count&order=t&limit=1', 'aggregate'),
      '1677-09-22T00:00:00',
    )
  }
})

await t.test('times that lose digits are warned of', async (t) => {
  const found = await bring(t, { field: 'int96_nanoseconds.parquet', lines: '    key: id' })
  t.match(found.check, /warning: nanoseconds in "t": /)
  t.match(found.warnings, [
    /^nanoseconds in "t": .* their last three digits, if they have any, are lost/,
  ])
})

/** Notes that writers put beside the schema, and whether they say that early days are shifted. */
const writers = {
  "{'org.apache.spark.version': '3.4.1', 'org.apache.spark.legacyDateTime': ''}": true,
  "{'org.apache.spark.version': '3.4.1', 'org.apache.spark.legacyINT96': ''}": true,
  "{'org.apache.spark.version': '2.4.5'}": true,
  "{'org.apache.spark.sql.parquet.row.metadata': '{}'}": true,
  "{'writer.date.proleptic': 'false', 'writer.time.zone': 'Europe/Moscow'}": true,
  "{'writer.date.proleptic': 'true'}": false,
  "{'org.apache.spark.version': '3.5.0', 'org.apache.spark.sql.parquet.row.metadata': '{}'}": false,
  "{'org.apache.spark.version': '4.0.0'}": false,
} as const
const earlyValues = {
  "DATE '1500-01-01'": true,
  "TIMESTAMP '1850-05-05 01:02:03'": true,
  "TIMESTAMPTZ '1850-05-05 01:02:03+00'": true,
  "DATE '1582-10-15'": false,
  "DATE '2020-02-02'": false,
  "TIMESTAMP '1900-01-01 00:00:00'": false,
  "[DATE '2020-02-02', DATE '1500-01-01']": true,
  "[DATE '2020-02-02']": false,
  "{'a': 1, 'of': {'the day': DATE '1500-01-01'}}": true,
  "{'a': 1, 'b': [{'c': TIMESTAMP '1850-05-05 01:02:03'}]}": true,
  "MAP {'a': DATE '1500-01-01'}": true,
  "MAP {DATE '1500-01-01': 1}": true,
  "MAP {'a': DATE '1900-01-01'}": false,
} as const

/** The columns that the warning of old calendars names. */
function oldColumns({ warnings }: Outcome): readonly string[] {
  const found = warnings.map((each) => / in (.+), written in the calendar of Spark/.exec(each))
  return found.flatMap((match) => match?.[1]?.match(/(?<=")\w+(?=")/g) ?? [])
}

await t.test('early days in the calendar of old writers are warned of', async (t) => {
  for (const [notes, isWarned] of Object.entries(writers)) {
    const early = "CASE WHEN i = 777 THEN DATE '1500-01-01' END"
    const files = { 'data/a.parquet': `SELECT i AS id, ${early} AS d FROM range(900) t(i)` }
    const writing = `, KV_METADATA ${notes}`
    const outcome = await bring(t, { files, writing, lines: '    key: id' })
    t.equal(outcome.reason, null)
    t.same(oldColumns(outcome), isWarned ? ['d'] : [], notes)
    t.equal(outcome.check.includes('served as other days'), isWarned)
  }
})

await t.test('early days are found in every type, and in what is nested', async (t) => {
  const [old = ''] = Object.keys(writers)
  const all = Object.entries(earlyValues)
  const isNested = ([value]: readonly [string, boolean]) => /^(\[|\{|MAP)/.test(value)
  // A warning names few columns.
  for (const values of [all.filter((each) => !isNested(each)), all.filter(isNested)]) {
    const columns = values.map(([value], at) => `CASE WHEN i = 777 THEN ${value} END AS d${at}`)
    const files = { 'data/a.parquet': `SELECT i AS id, ${columns.join(', ')} FROM range(900) t(i)` }
    const writing = `, KV_METADATA ${old}`
    const outcome = await bring(t, { files, writing, lines: '    key: id' })
    t.equal(outcome.reason, null)
    t.match(outcome.check, 'served as other days')
    for (const [at, [value, isWarned]] of values.entries()) {
      t.equal(oldColumns(outcome).includes(`d${at}`), isWarned, value)
    }
  }
})

await t.test(
  'geometries are texts, dropped and packed, with none in a file and nested',
  async (t) => {
    const point = (x: string) => `('POINT(' || ${x} || ' 2)')::GEOMETRY`
    const files = {
      'data/a.parquet': `SELECT i AS id, ${point('i')} AS g FROM range(5) t(i)`,
      'data/b.parquet': 'SELECT 5 + i AS id, NULL::GEOMETRY AS g FROM range(5) t(i)',
    }
    const { reason, ask } = await bring(t, { files, lines: '    key: id' })
    t.equal(reason, null)
    for (const form of forms) {
      t.match(
        await ask(form, 'id=in.3,7'),
        '{"data":[{"id":3,"g":"POINT (3 2)"},{"id":7,"g":null}],',
      )
      t.match(await ask(form, 'g=eq.POINT (4 2)&select=id'), '{"data":[{"id":4}],')
    }
  },
)

/** Where a bad text is, in which layout, and what is said of the place of a text, and in a list. */
const places = {
  'the first row': [0, ', DICTIONARY_SIZE_LIMIT 0', 'row 0', null],
  'the last row of a group': [
    2047,
    ', DICTIONARY_SIZE_LIMIT 0, ROW_GROUP_SIZE 2048',
    'row 2047',
    null,
  ],
  'the first of the next': [
    2048,
    ', DICTIONARY_SIZE_LIMIT 0, ROW_GROUP_SIZE 2048',
    'row 2048',
    2048,
  ],
  'the last row': [6999, ', DICTIONARY_SIZE_LIMIT 0, PARQUET_VERSION V1', 'row 6999', 4096],
  'a dictionary': [5000, ', ROW_GROUP_SIZE 2048', 'row 5000', 4096],
} as const

for (const [name, [row, writing, place, group]] of Object.entries(places)) {
  await t.test(`a text that is not UTF-8 in ${name} of one of several files`, async (t) => {
    const text = (from: number) => `CASE WHEN ${from} + i = ${7000 + row} THEN 'BAD BAD BAD'
      ELSE 'text ' || i % 900 END`
    const select = (from: number) =>
      `SELECT ${from} + i AS id, ${text(from)} AS s, [${text(from)}] AS list FROM range(7000) t(i)`
    const folder = t.testdir({})
    const options = `${writing}, COMPRESSION uncompressed`
    const selects = {
      'a.parquet': select(0),
      'b.parquet': select(7000),
      'c.parquet': select(14_000),
    }
    await writeParquet(folder, selects, options)
    for (const column of ['s', 'list'] as const) {
      const path = join(folder, 'b.parquet')
      const whole = readFileSync(path)
      const first = whole.indexOf('BAD BAD BAD')
      const at = column === 's' ? first : whole.indexOf('BAD BAD BAD', first + 1)
      const bytes = Buffer.from(whole)
      bytes.write('\xcf\xf0\xe8\xe2\xe5\xf2', at, 'latin1')
      writeFileSync(path, bytes)
      const error = await openFiles(
        Object.keys(selects).map((each) => join(folder, each)),
        ['id'],
      ).catch((cause: unknown) => cause)
      writeFileSync(path, whole)
      t.match(error, { path, name: 'FileError' })
      const { reason } = error as FileError
      const inList = group === null ? '' : `, from row ${group} on (counted from 0)`
      const where = column === 's' ? `, ${place} (counted from 0)` : inList
      t.ok(reason.includes(`"${column}"${where}: `), reason)
    }
  })
}
