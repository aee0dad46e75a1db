import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { logged } from '../support/logged.js'
import { startFirms } from './fixtures/firms-world.js'

const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
const page = '/datasets/firms/compare?lang=en&keys=01,02,03'

await t.test('firms stand side by side with the medians of their levels', async (t) => {
  const world = await startFirms(t)
  const { status, text } = await world.get(page)
  const words = textOf(text)
  t.equal(status, 200)
  t.match(words, 'Comparison of 3')
  t.match(words, 'Firm &lt;1&gt; 01 Firm &lt;2&gt; 02 Firm &lt;3&gt; 03 Median: 62 · Software')
  t.match(words, 'of 4 rows that you can see', 'of the demo: the level has 30 firms')
  t.match(words, 'Revenue revenue, thousand RUB 1,002,022 2,002,022 3,002,022 2,502,022')
  t.match(words, 'Net margin net_margin, %')
  t.match(words, /Period: 2022 2021 2020 2019/)
  t.match(text, '<svg aria-hidden="true">')
  t.match(words, '1B ₽')
  const [bars = ''] = /<ol class="bars">.*?<\/ol>/s.exec(text) ?? []
  t.match(textOf(bars), 'Median: 62 · Software of 4 rows that you can see 2.5B ₽')
})

await t.test('period, lines and the chart are chosen by the address', async (t) => {
  const world = await startFirms(t)
  const { text } = await world.get(`${page}&period=2020&line=profit&line=margin&chart=margin`)
  const words = textOf(text)
  t.match(words, 'Figure, 2020')
  t.match(words, 'Profit profit, thousand RUB – 200,001', '01 has no row of 2020')
  t.notMatch(words, 'Revenue revenue, thousand RUB 1')
  t.match(text, /<figcaption>Margin, %<\/figcaption>/)
  t.match(text, 'keys=01&amp;keys=02&amp;keys=03&amp;line=profit&amp;line=margin&amp;period=2021')
  t.match(text, 'lang=ru', 'the link to Russian')
  t.match(text, /href="\?lang=ru&amp;keys=01/)
})

await t.test('the workbook has the table of the page, and the other periods', async (t) => {
  const world = await startFirms(t)
  const link = /href="([^"]*format=xlsx)"/.exec((await world.get(`${page}&line=revenue`)).text)
  const url = link?.[1]?.replaceAll('&amp;', '&') ?? ''
  const { rawPayload, headers } = await world.app.server.inject(url)
  t.match(headers['content-disposition'], 'firms-compare-2022.xlsx')
  const parts = unzipSync(rawPayload)
  const part = (name: string) => strFromU8(parts[name] ?? new Uint8Array())
  t.match(part('xl/workbook.xml'), /name="2022".*name="2021".*name="2020".*name="2019"/)
  const texts = part('xl/sharedStrings.xml')
  for (const text of ['Revenue', 'thousand RUB', 'Firm &lt;1&gt; (01)', 'Median: 62 · Software']) {
    t.match(texts, text)
  }
  t.match(part('xl/worksheets/sheet1.xml'), /<v>1002022<\/v>.*<v>2502022<\/v>/)
  t.notMatch(part('xl/worksheets/sheet2.xml'), '<v>2502022</v>')
  t.match(texts, 'Register, CC BY 4.0')
})

await t.test('fewer than two keys, and more than ten, are a page that says so', async (t) => {
  const world = await startFirms(t)
  const many = Array.from({ length: 11 }, (_, index) => index).join()
  for (const keys of ['', '01', '01,01', many]) {
    const { status, text } = await world.get(`/datasets/firms/compare?lang=en&keys=${keys}`)
    t.equal(status, 400, keys)
    t.match(textOf(text), 'A comparison takes 2 to 10 keys', keys)
  }
  const none = await world.get('/datasets/firms/compare?lang=en&keys=08,09')
  t.equal(none.status, 404, 'firms outside the demo')
  const some = await world.get('/datasets/firms/compare?lang=en&keys=01,09')
  t.match(textOf(some.text), 'Not found: 09.')
  t.notMatch(some.text, 'Firm &lt;9')
})

await t.test('what was found is ticked, with the firm that one comes from', async (t) => {
  const world = await startFirms(t)
  t.match(
    (await world.get('/datasets/firms/01?lang=en')).text,
    'name="with" type="hidden" value="01"',
  )
  void world.app.prepare()
  await logged(world, '"packed"', 1)
  const found = await world.get('/datasets/firms/find?lang=en&q=02&with=01')
  t.match(found.text, /value="02"\s+aria-label="Compare: Firm &lt;2&gt;"/)
  t.match(found.text, 'action="/datasets/firms/compare"')
})
