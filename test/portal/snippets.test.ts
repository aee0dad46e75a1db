import t from 'tap'
import { snippetsOf } from '../../src/portal/snippets.js'

const request = {
  baseUrl: 'https://data.example.org',
  dataset: 'financials',
  kind: 'rows' as 'rows' | 'aggregate',
  query: 'inn=in.0261012138,7708004767&year=gte.2020&year=lt.2024',
  token: 'das_demo_opendata',
}

function textOf(id: string, changes: Partial<typeof request> = {}): string {
  return snippetsOf({ ...request, ...changes }).find((each) => each.id === id)?.text ?? ''
}

await t.test('each tool has a snippet, short, with the token and no other secret', (t) => {
  const snippets = snippetsOf(request)
  t.same(
    snippets.map(({ id }) => id),
    ['curl', 'python', 'r', 'duckdb', 'javascript', 'power-query', 'mcp'],
  )
  for (const { id, title, text } of snippets) {
    t.match(title, /\S/)
    t.ok(text.trimEnd().split('\n').length <= 16, id)
    t.equal(text.split(request.token).length, 2, `${id}: once`)
    t.notMatch(text.replace(request.token, ''), /das_(live|demo)_/)
  }
  t.end()
})

await t.test('a snippet reads all rows in its format, also when the query names another', (t) => {
  const query = 'format=parquet&a=eq.1&limit=5&cursor=x&excel=true&format=ndjson'
  t.match(textOf('curl', { query }), '/v1/financials/export?a=eq.1&format=csv')
  t.match(textOf('python', { query: '' }), '/v1/financials/export?format=csv"')
  t.match(textOf('javascript', { query }), '/v1/financials/export?a=eq.1&format=ndjson"')
  t.end()
})

await t.test('groups have an address of their own, and no pages', (t) => {
  const changes = { kind: 'aggregate', query: 'group=year&measures=median(a/b),x:sum(c)' } as const
  const url = 'https://data.example.org/v1/financials/aggregate?group=year&measures='
  t.match(textOf('curl', changes), `'${url}median(a/b),x:sum(c)&format=csv'`)
  for (const { id, text } of snippetsOf({ ...request, ...changes })) {
    t.notMatch(text, /cursor|next/i, id)
  }
  t.match(textOf('power-query', changes), 'RelativePath = "v1/financials/aggregate"')
  t.end()
})

// Nothing here runs Power Query: this was checked by reading its language's specification and the
// pages on `Web.Contents` and `Csv.Document`.
// - The first argument is a plain text, the rest of the address in RelativePath and Query: the form
//   whose data source the Power BI service knows without running the formula, so that it refreshes.
// - A field of Query may be a list: that is how a parameter is sent twice.
// - An Authorization of one's own needs the credential "Anonymous".
// - 65001 is UTF-8; QuoteStyle.Csv lets a quoted cell hold a line break. There is no step that
//   changes types, so a cell is the text that was sent.
// - In a text a quote is doubled, and only "#(" begins an escape; `#"…"` is a name with any letters.
await t.test('the formula of Power Query is as it was read', (t) => {
  const lines = textOf('power-query').split('\n')
  t.same(lines.slice(0, 7), [
    'let',
    '    Answer = Web.Contents("https://data.example.org", [',
    '        RelativePath = "v1/financials/export",',
    '        Query = [#"inn" = "in.0261012138,7708004767", #"year" = {"gte.2020", "lt.2024"}, #"format" = "csv"],',
    '        Headers = [Authorization = "Bearer das_demo_opendata"]',
    '    ]),',
    '    Cells = Csv.Document(Answer, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),',
  ])
  const query = `2110=eq.${encodeURIComponent('"#(lf)#"\\я+')}`
  t.match(textOf('power-query', { query }), `Query = [#"2110" = "eq.""#(#)(lf)#""\\я+",`)
  t.end()
})

await t.test('the configuration of MCP is JSON, with the address and the header', (t) => {
  const token = `a"\\'`
  t.same(JSON.parse(textOf('mcp', { token })), {
    mcpServers: {
      datasets: {
        url: 'https://data.example.org/mcp/',
        headers: { Authorization: `Bearer ${token}` },
      },
    },
  })
  t.end()
})
