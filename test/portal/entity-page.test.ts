import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { startFirms } from './fixtures/firms-world.js'

const page = '/datasets/firms/01?lang=en'
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

await t.test(
  'the page of an entity has its figures, codes with labels, links and a chart',
  async (t) => {
    const world = await startFirms(t)
    const { status, text } = await world.get(page)
    t.equal(status, 200)
    t.match(text, '<h1>Firm &lt;1&gt;</h1>')
    t.match(text, '62.02 · Advice')
    const words = textOf(text)
    t.match(words, 'Figure 2022 Change 2021 2019')
    t.match(words, 'Revenue revenue, thousand RUB 1,002,022')
    t.match(words, 'Margin margin, % 30%')
    t.match(words, 'Profit profit, thousand RUB 100,000.5 0% 100,000.5 –')
    t.match(text, '/v1/firms?inn=eq.01')
    t.match(text, 'das_demo_entity')
    const missing = await world.get('/datasets/firms/07?lang=en')
    t.equal(missing.status, 404, 'a firm outside the demo')
    t.equal(missing.text, (await world.get('/datasets/firms/nobody?lang=en')).text)
  },
)

await t.test('linked rows are the 20 newest, with their exact total', async (t) => {
  const world = await startFirms(t)
  const words = textOf((await world.get(page)).text)
  t.match(words, 'Deals , by seller')
  t.match(words, 'January 25, 2024 24.25')
  t.notMatch(words, 'January 5, 2024', 'older than the 20 newest')
  t.match(words, /Total of 20 rows/)
  t.match(words, '295.00')
  t.match(words, 'The 20 rows that are newest; there are more.')
  t.match(textOf((await world.get('/datasets/firms/02?lang=en')).text), /Total of 3 rows .*78.75/)
})

await t.test('the chart needs no script, and a year without a row is a gap', async (t) => {
  const world = await startFirms(t)
  const { text } = await world.get(page)
  const [picture = ''] = /<svg[^>]*class="broad".*?<\/svg>/s.exec(text) ?? []
  const lines = [...picture.matchAll(/<polyline class="s0" points="([^"]*)"/g)]
  t.equal(lines.length, 1, 'a line from 2021 to 2022, none over 2020')
  t.equal(lines[0]?.[1]?.split(' ').length, 2)
  t.equal([...picture.matchAll(/<circle class="s0"/g)].length, 3)
  t.match(textOf(picture), '1B ₽')
  const chosen = (await world.get(`${page}&line=margin`)).text
  t.match(textOf(chosen), 'Chart, %')
  t.match(chosen, /value="margin" checked/)
  const mixed = textOf((await world.get(`${page}&line=revenue&line=margin`)).text)
  t.match(mixed, /at most 6 lines. Not drawn: Margin · margin\./)
})

await t.test('the workbook has figures, linked rows, and says what they are', async (t) => {
  const world = await startFirms(t)
  const { rawPayload, headers } = await world.app.server.inject(`${page}&format=xlsx`)
  t.match(headers['content-disposition'], 'firms-01.xlsx')
  const parts = unzipSync(rawPayload)
  const part = (name: string) => strFromU8(parts[name] ?? new Uint8Array())
  const texts = part('xl/sharedStrings.xml')
  for (const text of ['Revenue', 'thousand RUB', 'Firm &lt;1&gt; · Firms', 'Register, CC BY 4.0']) {
    t.match(texts, text)
  }
  t.match(part('xl/workbook.xml'), 'name="deals seller"')
  t.match(part('xl/worksheets/sheet1.xml'), /<autoFilter ref="A1:G4"\/>/)
  t.match(part('xl/worksheets/sheet1.xml'), 'state="frozen"')
  t.match(part('xl/worksheets/sheet1.xml'), '<v>1002022</v>')
  t.match(part('xl/styles.xml'), '#,##0')
  t.notMatch(texts, 'das_demo')
})
