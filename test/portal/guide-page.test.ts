import t from 'tap'
import { languages } from '../../src/portal/language.js'
import { startShipped } from '../support/shipped.js'
import { startWorld } from '../support/world.js'

const world = await startShipped(t, { settings: { publicUrl: 'https://data.example.org/das' } })

/** The code of a page by the id of its heading. */
async function codesOf(language: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { status, text } = await world.get(`/guide?lang=${language}`)
  t.equal(status, 200)
  const sections = text.split('<h2 id="').slice(1)
  return Object.fromEntries(
    sections.map((section) => [
      section.split('"', 1)[0] ?? '',
      [...section.matchAll(/<code>([^<]*)<\/code>/g)].map(([, code = '']) => unescaped(code)),
    ]),
  )
}

function unescaped(text: string): string {
  const entities = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) =>
    String(entities[entity as keyof typeof entities]),
  )
}

/** Every address of the service in a text. */
function addressesIn(text: string): readonly string[] {
  return [...text.matchAll(/https:\/\/data\.example\.org\/das(\/v1\/[^'"\s]+)/g)].map(
    ([, path = '']) => path,
  )
}

const token = 'das_demo_opendata'

await t.test('what the guide tells to run answers, in every language', async (t) => {
  for (const [language] of languages) {
    const { curl, python, agent, spreadsheet, errors } = await codesOf(language)
    t.same(errors, [])
    const [saved = '', formula = ''] = spreadsheet ?? []
    const commands = [curl?.[0] ?? '', python?.[0] ?? '', saved]
    for (const text of [...commands, formula, agent?.[0] ?? '']) t.match(text, `Bearer ${token}`)
    const paths = commands.flatMap(addressesIn)
    t.equal(paths.length, 4)
    for (const path of paths) {
      const { status, text } = await world.get(path, token)
      t.equal(status, 200, path)
      t.ok(text.length > 100, 'with rows')
    }
    t.match(saved, / -o financials\.xlsx$/)

    const [, path = ''] = /RelativePath = "([^"]+)"/.exec(formula) ?? []
    const fields = [...formula.matchAll(/#"([^"]+)" = "([^"]*)"/g)]
    const query = new URLSearchParams()
    for (const [, name = '', value = ''] of fields) query.append(name, value)
    t.equal((await world.get(`/${path}?${query.toString()}`, token)).status, 200, formula)
  }
})

await t.test('the configuration of the agent connects', async (t) => {
  const { agent } = await codesOf('en')
  const { mcpServers } = JSON.parse(agent?.[0] ?? '') as {
    mcpServers: { datasets: { url: string; headers: Record<string, string> } }
  }
  const { url, headers } = mcpServers.datasets
  t.equal(url, 'https://data.example.org/das/mcp/')
  const answer = await world.get('/mcp/', undefined, {
    method: 'POST',
    headers: {
      ...{ authorization: headers['Authorization'], accept: 'application/json, text/event-stream' },
      ...{ 'content-type': 'application/json', host: 'data.example.org' },
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'guide', version: '1' },
      },
    }),
  })
  t.equal(answer.status, 200)
  t.match(answer.text, '"serverInfo"')
})

await t.test('without a demo it has the place of a token, and no token', async (t) => {
  const own = await startWorld(t, {
    files: { 'data/a.parquet': 'SELECT 1 AS id' },
    registry: `
datasets:
  a:
    title: A
    files: data/a.parquet
    key: id
    listed: true
    plans: {p: {rows_per_month: 10, history: all, price_rub: 0}}
`,
  })
  const { text } = await own.get('/guide?lang=en')
  t.match(text, 'Replace YOUR_TOKEN with your token.')
  t.match(text, 'Bearer YOUR_TOKEN')
  t.notMatch(text, /das_(demo|live)/)
})
