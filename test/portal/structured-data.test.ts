import t from 'tap'
import { startWorld } from '../support/world.js'

const hostile = `</script><script>alert("x")</script><!-- ' & \u2028 ](http://x) \`\n# next`

const registry = `
demo: {token: das_demo_structured}
datasets:
  shown:
    title: {en: ${JSON.stringify(hostile)}, ru: Показанный набор}
    description: ${JSON.stringify(`about ${hostile}`)}
    source: ${JSON.stringify(`from ${hostile}`)}
    files: data/*.parquet
    key: id
    history: year
    listed: true
    columns:
      secret: {hidden: true, unit: RUB}
      amount: {description: ${JSON.stringify(hostile)}, unit: ${JSON.stringify(hostile)}}
    plans: {p: {rows_per_month: 10, history: 1, price_rub: 0}}
  bare:
    title: Bare
    files: data/a.parquet
    key: id
    listed: true
    columns: {year: {hidden: true}}
    history: year
    plans: {p: {rows_per_month: 10, history: 1, price_rub: 0}}
`

const many = Array.from({ length: 40 }, (_, i) => `${i} AS many${i}`).join()
const select = (first: number) =>
  `SELECT i AS id, ${first} + i % 3 AS year, 7 AS secret, 8 AS amount, ${many} FROM range(9) t(i)`

const world = await startWorld(t, {
  files: { 'data/a.parquet': select(2015), 'data/b.parquet': select(2020) },
  registry,
  settings: { publicUrl: 'https://data.example.org/das' },
})

async function readPage(path: string): Promise<{ readonly text: string; readonly data: unknown }> {
  const { text } = await world.get(path)
  const [block, ...others] = text.split('<script type="application/ld+json">').slice(1)
  const json = block?.split('</script>', 1)[0] ?? ''
  t.same(others, [])
  t.notMatch(json, /[<>&'\u2028]/, 'nothing in it is markup')
  return { text, data: JSON.parse(json) }
}

/** As the registry reads it, without line breaks. */
const read = hostile.replace('\n', ' ')

await t.test('a dataset says of itself what search engines of data read', async (t) => {
  const { data } = await readPage('/datasets/shown?lang=en')
  const url = 'https://data.example.org/das/'
  t.match(data, {
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    dateModified: /^\d{4}-\d\d-\d\dT/,
    name: read,
    description: `about ${read}`,
    url: `${url}datasets/shown`,
    identifier: 'shown',
    creator: { '@type': 'Organization', name: `from ${read}` },
    publisher: { name: 'Dataset Access Service', url },
    includedInDataCatalog: { '@type': 'DataCatalog', url },
    temporalCoverage: '2015/2022',
  })
  const { distribution, variableMeasured } = data as Readonly<Record<string, readonly object[]>>
  t.same(
    distribution?.map((each) => Object.values(each)),
    [
      ['json', 'application/json'],
      ['ndjson', 'application/x-ndjson'],
      ['csv', 'text/csv'],
      ['parquet', 'application/vnd.apache.parquet'],
      ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ].map(([format, type]) => ['DataDownload', type, `${url}v1/shown?format=${format}`]),
  )
  t.same(variableMeasured, [
    { '@type': 'PropertyValue', name: 'amount', description: read, unitText: read },
  ])
})

await t.test('what is not known or hidden is left out, and a long list is cut', async (t) => {
  const { data, text } = await readPage('/datasets/bare')
  const { variableMeasured, ...rest } = data as Readonly<Record<string, unknown>>
  for (const absent of ['creator', 'creditText', 'temporalCoverage']) t.notHas(rest, absent)
  t.equal((variableMeasured as unknown[]).length, 30)
  t.match(rest, { name: 'Bare', description: 'Bare' })
  t.notMatch(text, 'das_live')
})

await t.test('the first page is a catalog of the listed datasets, in its language', async (t) => {
  const { data, text } = await readPage('/?lang=ru')
  const [site, catalog] = (data as { '@graph': readonly object[] })['@graph']
  t.match(site, { '@type': 'WebSite', url: 'https://data.example.org/das/', inLanguage: 'ru' })
  t.match(catalog, {
    '@type': 'DataCatalog',
    dataset: [
      { '@type': 'Dataset', name: 'Показанный набор', url: /\/das\/datasets\/shown$/ },
      { '@type': 'Dataset', name: 'Bare' },
    ],
  })
  t.match(text, '<meta property="og:locale" content="ru_RU" />')
  t.match(text, '<meta property="og:type" content="website" />')
})

await t.test('a preview of a link shows title and description of the dataset', async (t) => {
  const { text } = await readPage('/datasets/bare?lang=en')
  t.match(text, '<meta property="og:title" content="Bare · Dataset Access Service" />')
  t.match(text, '<meta property="og:description" content="Bare" />')
  t.match(text, '<meta property="og:site_name" content="Dataset Access Service" />')
  t.match(text, '<meta property="og:locale" content="en_US" />')
})

await t.test('texts of the registry stay in their line of llms.txt', async (t) => {
  const { text } = await world.get('/llms.txt')
  const lines = text.split('\n').filter((line) => line.includes('alert'))
  t.equal(lines.length, 1)
  t.match(lines[0], /^- \[\\<\/script\\>/)
  t.match(
    lines[0],
    '\\](http://x) \\` # next](https://data.example.org/das/datasets/shown?lang=en)',
  )
})

await t.test('pages that are not for search engines have none of it', async (t) => {
  for (const path of ['/docs/shown', '/nothing']) {
    const { text } = await world.get(path, undefined, { headers: { accept: 'text/html' } })
    t.notMatch(text, /ld\+json|og:|canonical/, path)
  }
})
