import t from 'tap'
import { chooseForPage, chooseForTotal } from '../../src/engine/duckdb/choose-form.js'
import type { DataFile, Version } from '../../src/versions/version.js'
import { openEngine } from './fixtures/open-engine.js'

// The choice between packed and dropped files agrees with measured times (scripts/bench/NOTES.md).

const columnsMax = 131
const packedRows = 20_480

await t.test('the cheaper form is chosen, as measured', async (t) => {
  const world = await openEngine(t, {
    files: { 'a.parquet': "SELECT '1' AS inn, 1 AS year, '46' AS okved, 1 AS x" },
    entry: '    key: [inn, year]\n    history: year\n',
  })
  const { version: small, filter } = world
  const [model] = small.files
  const [column] = small.columns
  if (!model || !column) throw new Error('no file')

  /** Every packed file has all years and a range of the key; a dropped file has one year. */
  const versionOf = (rows: number, years: number): Version => {
    const file = (count: number, bounds: DataFile['bounds']) => ({ ...model, rows: count, bounds })
    const packed = Math.ceil(rows / packedRows)
    const number = (value: number) => String(value).padStart(10, '0')
    return {
      ...small,
      rows,
      files: Array.from({ length: packed }, (_, index) =>
        file(
          packedRows,
          new Map([
            ['inn', { min: number(index), max: number(index) }],
            ['year', { min: 1n, max: BigInt(years) }],
          ]),
        ),
      ),
      dropped: Array.from({ length: years }, (_, index) => {
        const year = BigInt(index + 1)
        const bounds = new Map([['year', { min: year, max: year }]])
        return { ...file(rows / years, bounds), keepsOrder: true }
      }),
    }
  }
  const year = filter('year', 'eq', '1')
  const prefix = filter('okved', 'like', '46*')
  const rare = [...prefix, ...filter('x', 'gt', '5')]
  const company = filter('inn', 'eq', '0000000003')

  const formOf = (version: Version, index: number | undefined) =>
    (index ?? 0) < version.files.length ? 'packed' : 'dropped'
  const pages = [
    // rows, years, filters, rows of the page, columns, the faster form
    [2.2e6, 1, [...year, ...prefix], 1000, 5, 'packed'],
    [2e6, 7, [...year, ...prefix], 1000, 5, 'dropped'],
    [15.5e6, 7, [...year, ...prefix], 1000, 5, 'dropped'],
    [15.5e6, 30, [...year, ...prefix], 1000, 5, 'dropped'],
    [15.5e6, 7, [...year, ...rare], 1000, 5, 'dropped'],
    [15.5e6, 7, year, 1000, 5, 'packed'],
    [2.2e6, 1, year, 1000, columnsMax, 'packed'],
    [15.5e6, 7, year, 1000, columnsMax, 'packed'],
    [15.5e6, 30, year, 1000, columnsMax, 'packed'],
    [15.5e6, 7, [...company, ...year], 100, 5, 'packed'],
    [15.5e6, 7, company, 100, columnsMax, 'packed'],
    [15.5e6, 7, [], 1000, 5, 'packed'],
  ] as const
  for (const [rows, years, predicates, limit, columns, form] of pages) {
    const version = versionOf(rows, years)
    const chosen = chooseForPage({
      version,
      predicates,
      columns: Array<typeof column>(columns).fill(column),
      after: null,
      limit,
    })
    const names = predicates.map((each) => ('column' in each ? each.column.name : each.kind))
    const what = `${limit} × ${columns} of ${rows} rows, ${years} years, by ${names.join(', ')}`
    t.equal(formOf(version, chosen.files[0]?.index), form, what)
  }

  const version = versionOf(2e6, 7)
  const four = filter('year', 'lte', '4')
  const totals = [
    [year, 3, 'dropped'],
    [four, 3, 'dropped'],
    [[], 2, 'packed'],
    [company, 3, 'packed'],
  ] as const
  for (const [predicates, columns, form] of totals) {
    const chosen = chooseForTotal(version, predicates, columns)
    t.equal(formOf(version, chosen.files[0]?.index), form, `a total over ${predicates.length}`)
  }
})
