import t from 'tap'
import { startWorld, writeParquet } from '../support/world.js'
import { compared, exported, followed } from './fixtures/copies.js'
import type { Copy, Reader } from './fixtures/copies.js'

/** `DAS_MODEL_RUNS` sets how many refreshes each model lives through, `DAS_MODEL_SEED` which ones. */
const { DAS_MODEL_RUNS, DAS_MODEL_SEED } = process.env
const refreshes = Number(DAS_MODEL_RUNS ?? 5)
const firstSeed = Number(DAS_MODEL_SEED ?? 7)

const registryOf = (pack: string) => `
demo: {token: das_demo_changes, rate_per_minute: 100000}
datasets:
  firms:
    title: Firms
    files: data/*.parquet
    key: [inn, year]
    history: year
    pack: ${pack}
    limit: {default: 100, max: 1000}
    allow_breaking: true
    allow_shrinking: true
    shrink_max: 100%
    columns: {secret: {hidden: true}}
    demo: {inn: ["1", "2", "a,b"]}
    plans:
      pro: {rows_per_month: 100000000, history: all, price_rub: 10, rate_per_minute: 100000}
      two: {rows_per_month: 100000000, history: 2, price_rub: 10, rate_per_minute: 100000}
`

/** A generator of numbers below a bound, the same for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Row {
  inn: string
  year: number
  cells: string[]
}

const inns = ['1', '2', 'a,b', 'я', "o'x", '10', 'Z', 'z', '']
const columns = ['amount', 'price', 'name', 'tags', 'secret', 'extra', 'at', 'pair']
/** Values of each column, as SQL. */
const values = [
  ['NULL', '0', '-1', '9007199254740993'],
  [
    "'-0.0'::DOUBLE",
    '0.0::DOUBLE',
    "'NaN'::DOUBLE",
    'NULL::DOUBLE',
    '1e300::DOUBLE',
    '0.1::DOUBLE',
  ],
  ["''", "'a\"}],b'", 'NULL', "'ё'"],
  ['[1, 2]', '[1]', 'NULL', '[NULL, 1]'],
  ['1', '2'],
  ['NULL', '1.50', '1.5', '2.25'],
  ["TIMESTAMP '2024-02-29 23:59:59.999999'", "TIMESTAMP '1969-12-31 00:00:00'", 'NULL'],
  ["{'a': 1, 'b': 'x'}", "{'a': NULL, 'b': 'x'}", "{'a': 1, 'b': NULL}", 'NULL'],
]
const types = [
  'BIGINT',
  'DOUBLE',
  'VARCHAR',
  'INTEGER[]',
  'INTEGER',
  'DECIMAL(9,2)',
  'TIMESTAMP',
  'STRUCT(a INTEGER, b VARCHAR)',
]

await t.test('a copy that follows changes is equal to an export, each time', async (t) => {
  for (const [pack, seed] of [
    ['off', firstSeed],
    ['auto', firstSeed + 1],
  ] as const) {
    const random = numbers(seed)
    const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T
    const rows = new Map<string, Row>()
    let [newestYear, hasExtra, order] = [2024, false, columns.map((_, at) => at)]
    const add = () => {
      const [inn, year] = [pick(inns), newestYear - random(4)]
      rows.set(`${inn} ${year}`, { inn, year, cells: values.map(pick) })
    }
    for (let i = 0; i < 15; i++) add()
    const filesNow = () => {
      const shown = order.filter((at) => hasExtra || columns[at] !== 'extra')
      const lines = [...rows.values()].sort(() => random(3) - 1)
      const select = (part: readonly Row[]) => {
        const cells = (each: Row) =>
          shown.map((at) => `CAST(${each.cells[at] ?? ''} AS ${types[at]}) AS ${columns[at]}`)
        const text = part.map(
          (each) =>
            `SELECT '${each.inn.replaceAll("'", "''")}' AS inn, ${each.year} AS year, ${cells(each).join(', ')}`,
        )
        return text.join(' UNION ALL ')
      }
      // The newest years change, the others stay as they are.
      const [old, young] = [2, 0].map((age) =>
        lines.filter(({ year }) => (age === 0) === year > newestYear - 2),
      )
      return Object.fromEntries(
        [old ?? [], young ?? []].map((part, index) => [
          `data/${index}.parquet`,
          part.length === 0 ? `SELECT * FROM (${select(lines)}) LIMIT 0` : select(part),
        ]),
      )
    }
    const world = await startWorld(t, { files: filesNow(), registry: registryOf(pack) })
    const pro = (await world.subscribe(['firms:pro'])).token
    const two = (await world.subscribe(['firms:two'])).token
    const readers: readonly Reader[] = [
      [pro, ''],
      [pro, 'select=year,inn,price,tags'],
      [pro, 'amount=gt.-1&name=ne.x&select=inn,year,name'],
      [pro, 'price=is_null'],
      [two, ''],
      [two, 'tags=not_null'],
      ['das_demo_changes', ''],
    ].map(([token = '', question = '']) => ({
      ...{ dataset: 'firms', token, question, keys: ['inn', 'year'] },
    }))
    const copies: { copy: Copy; version: string }[] = []
    for (const reader of readers) copies.push(await exported(world, reader))
    let [followedTimes, refused] = [0, 0]
    for (let refresh = 0; refresh < refreshes; refresh++) {
      for (let i = random(5); i >= 0; i--) add()
      for (const key of [...rows.keys()]) if (rows.size > 8 && random(12) === 0) rows.delete(key)
      for (const row of rows.values()) {
        if (random(4) === 0) {
          const at = random(columns.length)
          row.cells[at] = pick(values[at] ?? [])
        }
      }
      if (random(4) === 0) newestYear += 1
      if (random(4) === 0) order = [...order].sort(() => random(3) - 1)
      if (random(5) === 0) hasExtra = !hasExtra
      const before = world.app.catalog().datasets.get('firms')?.version?.id
      await writeParquet(world.folder, filesNow())
      await world.app.reload(true)
      if (world.app.catalog().datasets.get('firms')?.version?.id === before) continue
      await compared(world, 'firms', pro)
      for (const [index, reader] of readers.entries()) {
        const held = copies[index]
        if (!held || random(3) === 0) continue
        const { answer } = await followed(world, reader, held.copy, held.version, 1 + random(9))
        const fresh = await exported(world, reader)
        if (answer.status !== 200) {
          t.match(answer.body.detail, /take an export, and go on from version/, answer.text)
          refused += 1
          copies[index] = fresh
          continue
        }
        followedTimes += 1
        t.equal(answer.body['version'], fresh.version)
        // The oldest year of the dataset may be none that the demo sees.
        t.equal(answer.body['from'] === null, reader.token === 'das_demo_changes')
        const sorted = (copy: Copy) => [...copy.values()].sort()
        t.same(
          sorted(held.copy),
          sorted(fresh.copy),
          `${pack}, refresh ${refresh}, ${reader.question}`,
        )
        held.version = fresh.version
      }
    }
    t.comment(`${pack}: followed ${followedTimes} times, ${refused} refused`)
    t.ok(followedTimes > refused)
  }
})
