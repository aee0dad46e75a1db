import t from 'tap'
import { showcaseOf } from '../../src/service/showcase.js'
import { startWorld } from '../support/world.js'

const registry = `
demo: {token: das_demo_shown}
datasets:
  shown:
    title: Shown
    source: The office
    files: data/shown.parquet
    key: id
    history: year
    listed: true
    columns: {secret: {hidden: true}, id: {description: its number, unit: pieces}}
    demo: {id: [1]}
    plans:
      free: {rows_per_month: 10, history: 1, price_rub: 0}
      pro: {rows_per_month: 1000, history: all, price_rub: 990, rate_per_minute: 600}
  discreet:
    title: Discreet
    files: data/shown.parquet
    history: secret
    listed: true
    columns: {secret: {hidden: true}}
  unlisted:
    title: Unlisted
    files: data/shown.parquet
    demo: {id: [1]}
  broken:
    title: Broken
    files: data/none.parquet
    listed: true
`

await t.test(
  'the public offer holds listed and served datasets, and no hidden column',
  async (t) => {
    const { app } = await startWorld(t, {
      files: {
        'data/shown.parquet': 'SELECT i AS id, 2020 AS year, 2020 AS secret FROM range(3) t(i)',
      },
      registry,
    })
    const { demoToken, datasets } = showcaseOf(app.catalog(), 'en')
    t.equal(demoToken, 'das_demo_shown')
    t.same(
      datasets.map(({ name }) => name),
      ['shown', 'discreet'],
    )
    const [shown, discreet] = datasets
    t.match(shown, {
      title: 'Shown',
      source: 'The office',
      rows: 3,
      asOf: '2020',
      history: 'year',
      hasDemo: true,
      columns: [
        { name: 'id', type: 'integer', unit: 'pieces', description: 'its number' },
        { name: 'year', type: 'integer' },
      ],
      plans: [
        { name: 'free', rowsPerMonth: 10, history: 1, monthRub: 0, yearRub: 0, ratePerMinute: 120 },
        { name: 'pro', history: 'all', monthRub: 990, yearRub: 9900, ratePerMinute: 600 },
      ],
    })
    t.equal(discreet?.history, null)
    t.equal(discreet?.asOf, null, 'a hidden column says nothing')
    t.equal(discreet?.hasDemo, false)
    t.notMatch(JSON.stringify(datasets), 'secret')
  },
)

await t.test('texts are in the language of the reader, or else the only ones', async (t) => {
  const { app } = await startWorld(t, {
    files: { 'data/cities.parquet': "SELECT 1 AS id, 'Oslo' AS name, 709 AS people" },
    registry: `
datasets:
  cities:
    title: {en: Cities, ru: Города}
    description: Of the world
    source: {en: The office, ru: Бюро}
    files: data/cities.parquet
    listed: true
    columns:
      id: {description: {en: its number, ru: номер}}
      name: {description: its name}
      people: {unit: {en: thousand, ru: тыс.}, description: {en: inhabitants, ru: жителей}}
`,
  })
  const [english] = showcaseOf(app.catalog(), 'en').datasets
  t.match(english, { title: 'Cities', description: 'Of the world', source: 'The office' })
  t.match(english?.columns, [
    { description: 'its number' },
    { unit: null, description: 'its name' },
    { unit: 'thousand', description: 'inhabitants' },
  ])
  const [russian] = showcaseOf(app.catalog(), 'ru').datasets
  t.match(russian, { title: 'Города', description: 'Of the world', source: 'Бюро' })
  t.match(russian?.columns, [
    { description: 'номер' },
    { unit: null, description: 'its name' },
    { unit: 'тыс.', description: 'жителей' },
  ])
})
