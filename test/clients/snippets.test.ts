import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t from 'tap'
import { globSync } from 'tinyglobby'
import { snippetsOf } from '../../src/portal/snippets.js'
import type { SnippetRequest } from '../../src/portal/snippets.js'
import { listen } from '../support/answers.js'
import { startShipped } from '../support/shipped.js'

type Cells = readonly (readonly (string | null)[])[]

interface Tool {
  readonly id: string
  /** Runs a file of the snippet and what follows it. */
  readonly command: (file: string) => readonly [string, ...string[]]
  /** Follows the snippet, to show in a form to compare what it has read. */
  readonly more: string
  /** The cells in what it prints, in the order of these columns. */
  readonly cells: (printed: string, columns: readonly string[]) => Cells
}

// Made by `npm run test:clients`, which has the DuckDB extension from PyPI: DuckDB itself loads it
// from its own site at the first use.
const binaries = join('.venv', 'bin')
const [httpfs = ''] = globSync('.venv/lib/*/site-packages/duckdb_extension_httpfs/**/httpfs.*')

/** Prints each cell as the text that JSON pages have. */
const pythonCells = `
import json
def text(cell):
    if cell is None or cell is pd.NA: return None
    if isinstance(cell, bool): return str(cell).lower()
    if hasattr(cell, "tolist"): cell = cell.tolist()
    if isinstance(cell, list): return json.dumps(cell, ensure_ascii=False, separators=(",", ":"))
    return str(cell)
print("\\n=", json.dumps([[text(cell) for cell in row] for row in rows.itertuples(index=False)]))`

const tools: readonly Tool[] = [
  { id: 'curl', command: (file) => ['bash', file], more: '', cells: cellsOfPage },
  {
    id: 'python',
    command: (file) => [join(binaries, 'python'), file],
    more: pythonCells,
    cells: (printed) => JSON.parse(afterMark(printed)) as Cells,
  },
  {
    id: 'r',
    command: (file) => ['Rscript', '--vanilla', file],
    more: 'cat("\\n= "); write.table(rows, sep = "\\t", quote = FALSE, na = "\\\\N", row.names = FALSE, col.names = FALSE)',
    cells: (printed) => linesOf(afterMark(printed)).map((line) => line.split('\t').map(orNull)),
  },
  {
    id: 'duckdb',
    command: (file) => [
      join(binaries, 'duckdb'),
      ...['-jsonlines', '-cmd', `LOAD '${httpfs}'`, '-f', file],
    ],
    more: '',
    cells: (printed, columns) => cellsOfRows(rowsOfLines(printed), columns),
  },
  {
    id: 'javascript',
    command: (file) => [process.execPath, file],
    more: "console.log('\\n=', JSON.stringify(data))",
    cells: (printed, columns) => {
      const rows = JSON.parse(afterMark(printed)) as readonly Row[]
      return cellsOfRows(rows, columns)
    },
  },
]

const fileNames: Readonly<Record<string, string>> = { javascript: 'snippet.mjs' }

/** Runs a tool's snippet in a folder as if it were pasted; what it prints. */
async function run(folder: string, tool: Tool, request: SnippetRequest): Promise<string> {
  const snippet = snippetsOf(request).find(({ id }) => id === tool.id)
  const file = join(folder, fileNames[tool.id] ?? 'snippet')
  writeFileSync(file, `${snippet?.text}\n${tool.more}\n`)
  const [program, ...args] = tool.command(file)
  const env = { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C.UTF-8' }
  const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 64e6 })
  return stdout
}

const questions: readonly (readonly [dataset: string, query: string, rows: number])[] = [
  // An INN with a leading zero, Cyrillic, columns named by digits, empty cells.
  ['financials', 'inn=eq.0261012138&select=inn,year,name,2110,1600', 7],
  // A year in one piece; every cell of the page, 131 columns.
  ['financials', `year=eq.2024&limit=200`, 200],
  // A quote, a plus, an apostrophe, a dollar and a backslash in what is asked for.
  [
    'financials',
    `name=isdistinct.${encodeURIComponent(`"O'N+$HOME\\"`)}&year=eq.2025&select=year,name&limit=9`,
    9,
  ],
  // Decimals with their zeros, dates, lists, a column without any value.
  [
    'procurement',
    'okpd2=eq.35.11.10.111&select=sign_date,price,paid_rub,okpd2_codes,customer_name&limit=50',
    21,
  ],
  // No row at all.
  ['procurement', 'okpd2=eq.0&select=reg_number,price', 0],
]

await t.test('what each snippet reads is the page, cell by cell', async (t) => {
  // The order of columns is CSV's: JSON.parse loses it of names like 2110.
  const world = await startShipped(t)
  const baseUrl = `http://127.0.0.1:${await listen(world)}`
  const { token } = world.subscribe(['financials:pro', 'procurement:pro'])
  for (const [dataset, query, count] of questions) {
    const page = await world.get(`/v1/${dataset}?${query}`, token)
    const csv = await world.get(`/v1/${dataset}?${query}&format=csv`, token)
    const columns = (linesOf(csv.text)[0] ?? '').trimEnd().split(',')
    const exact = cellsOfPage(page.text, columns)
    t.equal(page.body.data.length, count, query)
    for (const tool of tools) {
      const printed = await run(world.folder, tool, {
        baseUrl,
        dataset,
        kind: 'rows',
        query,
        token,
      })
      // JavaScript has no 240000.00: there a number is what JSON.parse makes of it.
      const expected = tool.id === 'javascript' ? cellsOfRows(page.body.data, columns) : exact
      t.same(tool.cells(printed, columns), expected, `${tool.id}: ${query}`)
    }
  }
})

await t.test('the MCP configuration lets a client in, with the token that it names', async (t) => {
  const world = await startShipped(t)
  const baseUrl = `http://127.0.0.1:${await listen(world)}`
  const { token } = world.subscribe(['procurement:pro'])
  const request = { baseUrl, dataset: 'procurement', kind: 'rows' as const, query: '', token }
  const text = snippetsOf(request).find(({ id }) => id === 'mcp')?.text ?? ''
  const { datasets } = (JSON.parse(text) as { mcpServers: { datasets: ServerEntry } }).mcpServers
  const client = new Client({ name: 'snippet', version: '1.0.0' })
  t.teardown(() => client.close())
  const { url, headers } = datasets
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
  const { structuredContent } = await client.callTool({ name: 'list_resources', arguments: {} })
  t.match(structuredContent, { resources: [{ name: 'procurement', rows: 969 }] })
})

// Guarantee: whatever a visitor types, a snippet asks this server this question, and does no more.
await t.test('nothing in a name, a query or a token has a meaning for a tool', async (t) => {
  const hostile = `'"\`id\`$(id)$HOME\\!#(lf)&%41{1,2}[a]`
  const folder = t.testdir({})
  const answers = [
    ['csv', 'a\r\n1\r\n'],
    ['parquet', readFileSync('data/procurement/2018-01.parquet')],
    ['', '{"data":[{"a":1}],"next_cursor":null}'],
  ] as const
  const asked: { url: string; authorization: string | undefined }[] = []
  const server = createServer(({ url = '', method, headers }, response) => {
    if (method === 'GET') asked.push({ url, authorization: headers.authorization })
    response.end(answers.find(([format]) => format === '' || url.includes(`format=${format}`))?.[1])
  })
  t.teardown(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const query = `x=eq.${encodeURIComponent(`${hostile}\n+я`)}&y=${hostile.replaceAll(/[&%#]/g, '')}`
  for (const tool of tools) {
    await run(folder, tool, {
      ...{ baseUrl, dataset: hostile, query, token: hostile },
      kind: 'rows',
    })
    const { url = '', authorization } = asked.pop() ?? {}
    const { pathname, searchParams } = new URL(url, baseUrl)
    t.equal(asked.length, 0, tool.id)
    t.equal(authorization, `Bearer ${hostile}`, tool.id)
    t.equal(decodeURIComponent(pathname), `/v1/${hostile}`, tool.id)
    t.equal(searchParams.get('x'), `eq.${hostile}\n+я`, tool.id)
    t.equal(searchParams.get('y'), hostile.replaceAll(/[&%#]/g, ''), tool.id)
  }
})

type Row = Readonly<Record<string, unknown>>

/** A server as MCP clients are configured with it. */
interface ServerEntry {
  readonly url: string
  readonly headers: Record<string, string>
}

function cellsOfRows(rows: readonly Row[], columns: readonly string[]): Cells {
  return rows.map((row) => columns.map((name) => cellOf(row[name])))
}

function cellOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function cellsOfPage(text: string, columns: readonly string[]): Cells {
  return cellsOfRows((JSON.parse(withTexts(text)) as { data: readonly Row[] }).data, columns)
}

function rowsOfLines(printed: string): readonly Row[] {
  const [, ...rows] = linesOf(printed).map((line) => JSON.parse(withTexts(line)) as Row)
  return rows
}

/** JSON with each number as the text that it is. */
function withTexts(json: string): string {
  return json.replace(
    /("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)/g,
    (_match, string?: string, digits?: string) => string ?? `"${digits}"`,
  )
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

function afterMark(printed: string): string {
  return printed.slice(printed.lastIndexOf('\n= ') + 3)
}

function orNull(text: string): string | null {
  return text === '\\N' ? null : text
}
