import t from 'tap'
import { predicateKey } from '../../src/columns/predicate.js'
import { datasetOf, makeCatalogFolder, refusalOf } from '../catalog/live/fixtures/catalog-folder.js'

const files = {
  'data/1.parquet': `SELECT '0261012138' AS inn, 2024 AS year, 1.5::DECIMAL(9,2) AS price, true AS flag,
    DATE '2024-02-29' AS day, 5 AS line_2110, 7 AS secret, 0.1::FLOAT AS share`,
}

await t.test(
  'the demo subset is the rows that have one of the values in every column',
  async (t) => {
    const fixture = await makeCatalogFolder(t, { files })
    const demoOf = async (demo: string) => {
      fixture.writeRegistry(
        `    columns: {line_2110: {name: "2110"}, secret: {hidden: true}}\n    demo: ${demo}`,
      )
      const dataset = datasetOf(await fixture.open())
      t.equal(dataset.reason, null)
      return dataset.demo?.map(predicateKey)
    }
    t.same(await demoOf('{inn: ["0261012138", \'7708004767\']}'), [
      '["inn","in","string:0261012138","string:7708004767"]',
    ])
    t.same(await demoOf('{inn: ["1"], year: [2023, 2024]}'), [
      '["inn","eq","string:1"]',
      '["year","in","bigint:2023","bigint:2024"]',
    ])
    t.same(await demoOf('{price: [1.50]}'), ['["price","eq","bigint:150"]'])
    t.same(await demoOf('{price: ["0.005"]}'), ['nothing'], 'no row can have it')
    t.same(await demoOf('{flag: [true]}'), ['["flag","eq","boolean:true"]'])
    t.same(await demoOf('{day: [2024-02-29]}'), ['["day","eq","bigint:19782"]'])
    t.same(await demoOf('{2110: [5]}'), ['["2110","eq","bigint:5"]'], 'by its shown name')
    t.same(await demoOf('{secret: [7]}'), ['["secret","eq","bigint:7"]'], 'callers need not see it')
    t.same(await demoOf('{share: [1e-1]}'), [`["share","eq","number:${Math.fround(0.1)}"]`])
    fixture.writeRegistry('')
    t.equal(
      datasetOf(await fixture.open()).demo,
      null,
      'without a subset the demo token sees nothing',
    )
  },
)

await t.test('a number in a text column must be quoted, to keep its zeros', async (t) => {
  const reason = await refusalOf(t, files, '    demo:\n      inn: [0261012138, "1", 42, true]')
  t.same(reason.split('\n'), [
    `registry.yaml:6:13: column "inn" is a string: write '0261012138' in quotes`,
    `registry.yaml:6:30: column "inn" is a string: write '42' in quotes`,
    `registry.yaml:6:34: column "inn" is a string: write 'true' in quotes`,
  ])
})

await t.test('each value that does not fit its column is reported', async (t) => {
  const reason = await refusalOf(
    t,
    files,
    `    demo:
      year: [2024, 20x4]
      flag: [true, false]
      day: ["2024-02-30"]`,
  )
  t.same(reason.split('\n'), [
    'registry.yaml:6:20: Column "year" takes an integer, got "20x4". Example: year=eq.2024',
    `registry.yaml:7:7: column "flag" (boolean) can't be limited to several values`,
    'registry.yaml:8:13: Column "day" takes a date, got "2024-02-30". Example: day=eq.2024-12-31',
  ])
})
