import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { filterPredicates } from '../../../src/columns/predicate.js'
import type { Predicate } from '../../../src/columns/predicate.js'
import type { Operator } from '../../../src/columns/operators.js'
import { foldText } from '../../../src/columns/search-words.js'
import type { DuckDbEngine } from '../../../src/engine/duckdb/duckdb-engine.js'
import { chooseFiles } from '../../../src/engine/duckdb/choice.js'
import { PlainPaths } from '../../../src/engine/duckdb/plain-paths.js'
import { narrow } from '../../../src/engine/duckdb/read/narrow.js'
import type { Question } from '../../../src/query/question.js'
import type { FilePosition } from '../../../src/query/question.js'
import type { Version } from '../../../src/versions/version.js'
import { never } from '../../engine/fixtures/open-engine.js'
import { packPending } from '../../engine/fixtures/forms.js'
import { openPacked, registryOf, servedVersion } from '../../engine/fixtures/packed-world.js'
import { rowsOf } from '../../engine/fixtures/rows-of.js'
import { rangeRows } from '../../../src/versions/forms/form.js'
import { runs } from '../../support/runs.js'

// Guarantee: a search gives the same rows, in the same order, with and without a search file.

/** Letters with several forms, marks, and everything that patterns mean. */
const letter = fc.constantFrom(
  ...'аАеЕёЁиИйЙкКkK\u212asSſßẞσςΣiIıİ07.*%_\\^$[]|+-"',
  ...['\u0306', '\u0301', '\ufeff', '\n', ' ', '😀', '𐐀', '𐐨'],
)
const textOf = (maxLength: number) => fc.string({ unit: letter, maxLength })
const texts = fc.sample(textOf(9), { seed: 1, numRuns: 300 })
const usual = ['ООО', 'Общество', 'АО']
const rowsPerYear = 12_000
const kinds = 7

function sqlText(text: string): string {
  return text === '' ? "''" : [...text].map((each) => `chr(${each.codePointAt(0)})`).join(' || ')
}

/** Frequent words in every row, rare texts in a few rows beside each other, and some empty. */
function yearOf(year: number): string {
  const list = `[${texts.map(sqlText).join(', ')}]`
  const names = `[${usual.map(sqlText).join(', ')}]`
  return `SELECT id, ${year} AS year, id % ${kinds} AS kind,
    CASE WHEN id % 11 > 0 THEN ${names}[1 + id % 31 % 3] || ' ' || ${list}[1 + (id // 200) % 300]
        || (id * 10 + ${year % 10})
      WHEN id % 2 = 0 THEN '' END AS name,
    CASE WHEN id % 4 > 0 THEN ${list}[1 + id % 300] END AS note
    FROM (SELECT i * 3 AS id FROM range(${rowsPerYear}) t(i)) ORDER BY id`
}

const files = { '1.parquet': yearOf(2021), '2.parquet': yearOf(2022), '3.parquet': yearOf(2023) }
const entry = ['key: [id, year]', 'history: year']
const marked = 'columns: {name: {search: true}, note: {search: true, name: remark}}'

const unmarked = marked.replaceAll('search: true', 'search: false')

type Filter = readonly [name: string, operator: Operator, ...values: string[]]

function predicatesOf(version: Version, filters: readonly Filter[]): readonly Predicate[] {
  return filters.flatMap(([name, operator, ...values]) => {
    const column = version.columns.find((each) => each.name === name)
    if (!column) throw new Error(`no column ${name}`)
    return filterPredicates(column, operator, values)
  })
}

interface Asked {
  readonly filters: readonly Filter[]
  readonly limit: number
  readonly format: NonNullable<Question['format']>
}

const options = { signal: never, client: 'a' }

/** Every page to the end: rows, positions and cursors; bytes of files. */
async function walk(engine: DuckDbEngine, version: Version, { filters, limit, format }: Asked) {
  const predicates = predicatesOf(version, filters)
  const found: string[] = []
  let after: FilePosition | null = null
  for (let hasMore = true; hasMore;) {
    const columns = version.columns.slice(0, 4)
    const page = await engine.read({ version, predicates, columns, after, limit, format }, options)
    for (const { encoded, position } of page.rows) {
      found.push(`${position.file} ${position.row} ${String(encoded)}`)
      after = position
    }
    if (page.file) found.push(createHash('sha256').update(page.file).digest('hex'))
    hasMore = page.hasMore
  }
  return found
}

async function totals(engine: DuckDbEngine, version: Version, { filters, limit }: Asked) {
  const predicates = predicatesOf(version, filters)
  const [by, kind] = ['id', 'kind'].map((name) => version.columns.find((c) => c.name === name))
  if (!by || !kind) throw new Error('no column')
  const top = { version, predicates, by, isDescending: true, columns: version.columns, limit }
  const groups = [{ name: 'kind', column: kind, labels: null, by: { kind: 'value' } as const }]
  const count = { kind: 'count', of: null } as const
  const measures = [{ name: 'count', aggregate: count, defined: null }]
  const summary = { version, predicates, groups, measures, having: [], order: [], limit: 100 }
  const best = await engine.top(top, options)
  const summed = await engine.summarize(summary, options)
  return {
    count: await engine.count(version, predicates, options),
    top: best.rows.map(({ encoded, position }) => [String(encoded), position]),
    groups: summed.rows.map(String),
  }
}

const word = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...texts).filter((text) => /\S/.test(text)) },
  { weight: 2, arbitrary: textOf(3).filter((text) => /\S/.test(text)) },
  fc.constantFrom('ооо', 'общество ', 'нет такого', '17', '333', 'ао 9'),
)
const other: fc.Arbitrary<Filter> = fc.oneof(
  word.map((text): Filter => ['remark', 'contains', text]),
  word.map((text): Filter => ['name', 'contains', text]),
  fc.constantFrom<Filter>(
    ['year', 'eq', '2022'],
    ['year', 'gte', '2022'],
    ['kind', 'eq', '3'],
    ['id', 'lt', '9000'],
    ['id', 'eq', '300'],
    ['id', 'in', ...Array.from({ length: 40 }, (_, each) => String(each * 333))],
    ['kind', 'in', ...Array.from({ length: 20 }, (_, each) => String(each * 2))],
    ['name', 'like', 'ООО*'],
    ['remark', 'is_null'],
  ),
)
const asked: fc.Arbitrary<Asked> = fc.record({
  filters: fc
    .tuple(word, fc.array(other, { maxLength: 2 }))
    .map(([text, others]) => [['name', 'contains', text] as const, ...others]),
  limit: fc.constantFrom(1, 7, 100, 1000),
  format: fc.constantFrom('json' as const, 'json' as const, 'csv' as const, 'parquet' as const),
})

const world = await openPacked(t, files, { entry: [...entry, marked] })

await t.test('any search gives the same answers with and without search files', async (t) => {
  const { engine, packed } = world
  t.match(
    packed.search.map(({ column }) => column),
    ['name', 'note'],
  )
  const without = { ...packed, search: [] }
  const context = { checks: null, paths: new PlainPaths(), run: async () => [[], []] }
  let [found, narrowed] = [0, 0]
  const property = fc.asyncProperty(asked, async (each) => {
    const limit = Math.max(each.limit, each.filters.length > 1 ? 7 : 1000)
    const question = { ...each, limit }
    const rows = await walk(engine, packed, question)
    t.same(rows, await walk(engine, without, question), JSON.stringify(question))
    t.same(await totals(engine, packed, question), await totals(engine, without, question))
    found += rows.length
    const choice = chooseFiles(packed, predicatesOf(packed, each.filters))
    const { files: left } = await narrow(choice, context)
    if (choice.files.length > 0 && left.length === 0) narrowed += 1
  })
  const numRuns = runs(10)
  await fc.assert(property, { numRuns, seed: 3 })
  t.ok(found > 30 * numRuns, 'most searches find something')
  t.ok(narrowed > numRuns / 3, 'and read a search file')
})

await t.test('a rare word reads the ranges that have it, a frequent one all rows', async (t) => {
  const { packed } = world
  const choice = chooseFiles(packed, predicatesOf(packed, [['name', 'contains', 'нет']]), 'pages')
  const ranges = [0, 1]
  const answer = (pairs: readonly (readonly [number, number])[]) =>
    narrow(choice, {
      checks: null,
      paths: new PlainPaths(),
      run: async () => [pairs.map(([file]) => file), pairs.map(([, range]) => range)],
    })
  const rare = await answer(ranges.map((range) => [1, range]))
  t.match(
    rare.files.map(({ index, ranges: own }) => [index, own]),
    [[1, [{ from: 0, to: rowsPerYear }]]],
  )
  const frequent = [0, 1, 2].flatMap((file) => [0, 1].map((range) => [file, range] as const))
  t.equal((await answer(frequent)).files.length, 3)
  t.ok((await answer(frequent)).files.every(({ ranges: own }) => own === undefined))
})

await t.test('a search file has every text, folded, with each range that has it', async (t) => {
  const { packed } = world
  const list = packed.files.map(({ path }) => `'${path}'`).join(', ')
  for (const { column, path, hash } of packed.search) {
    const stored = await rowsOf(
      `SELECT DISTINCT file_index AS file, file_row_number // ${rangeRows} AS range,
         "${column}" AS text FROM read_parquet([${list}]) WHERE "${column}" IS NOT NULL`,
    )
    const folded = stored.map((row) => {
      const each = JSON.parse(row) as { file: number; range: number; text: string }
      return JSON.stringify({ ...each, text: foldText(each.text) })
    })
    const written = await rowsOf(`SELECT file, range, text FROM read_parquet('${path}')`)
    const inJs = written.map((row) => JSON.stringify(JSON.parse(row)))
    t.same(inJs.sort(), folded.sort(), column)
    t.equal(hash, createHash('sha256').update(readFileSync(path)).digest('hex'))
  }
})

await t.test('a column that is marked later gets its search file, and nothing else', async (t) => {
  const { folder, live, packed, engine } = await openPacked(t, files, {
    entry: [...entry, unmarked],
  })
  t.same(packed.search, [])
  t.equal(live.toPack, null)
  const registry = join(folder, 'registry.yaml')
  const before = packed.files.map(({ rowCopy }) => statSync(rowCopy?.path ?? '').ino)
  const asked: Asked = { filters: [['name', 'contains', 'общество 77']], limit: 9, format: 'json' }
  const expected = await walk(engine, packed, asked)

  writeFileSync(registry, registryOf('pack: off', ...entry, marked))
  while ((await live.update()) === 'unsettled');
  t.equal(live.toPack, null, 'the owner makes forms by command')
  writeFileSync(registry, registryOf('pack: auto', ...entry, marked))
  while ((await live.update()) === 'unsettled');
  t.match(live.toPack?.forms, [
    { kind: 'search', column: 'name' },
    { kind: 'search', column: 'note' },
  ])
  t.equal(live.toPack?.forms.length, 2)
  await packPending(live)
  const searched = servedVersion(live)
  t.equal(live.toPack, null)
  t.match(searched.search, [{ column: 'name' }, { column: 'note' }])
  t.equal(searched.id, packed.id)
  t.same(
    searched.files.map(({ rowCopy }) => statSync(rowCopy?.path ?? '').ino),
    before,
    'the row copies stay',
  )
  t.same(await walk(engine, searched, asked), expected)

  writeFileSync(registry, registryOf('pack: auto', ...entry, unmarked))
  while ((await live.update()) === 'unsettled');
  t.same(servedVersion(live).search, [], 'a column that is not marked any more')
})

await t.test('a damaged search file is withdrawn alone, and made again', async (t) => {
  const { live, packed, engine, checks } = world
  const [file] = packed.search
  if (!file) throw new Error('no search file')
  const bytes = readFileSync(file.path)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  writeFileSync(file.path, bytes)
  t.equal(await checks.verify(file), 'damaged', 'as the scrub reads it')
  const asked: Asked = { filters: [['name', 'contains', 'общество 77']], limit: 9, format: 'json' }
  t.match(servedVersion(live).search, [{ column: 'note' }])
  t.equal(servedVersion(live).search.length, 1)
  const found = await walk(engine, servedVersion(live), asked)
  while ((await live.update()) === 'unsettled');
  t.match(live.toPack?.forms, [{ kind: 'search', column: 'name' }])
  await packPending(live)
  t.match(servedVersion(live).search, [{ column: 'name' }, { column: 'note' }])
  t.same(await walk(engine, servedVersion(live), asked), found)
})
