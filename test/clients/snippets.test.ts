import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { parse } from 'csv-parse/sync'
import t from 'tap'
import { globSync } from 'tinyglobby'
import { snippetsOf } from '../../src/portal/snippets.js'
import type { SnippetRequest } from '../../src/portal/snippets.js'
import { listen } from '../support/answers.js'
import { startShipped } from '../support/shipped.js'
import type { World } from '../support/world.js'

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

/** Prints each cell as the text that JSON has. */
const pythonCells = `
def text(cell):
    if cell is None or cell is pd.NA: return None
    if isinstance(cell, bool): return str(cell).lower()
    return str(cell)
print("\\n=", json.dumps([[text(cell) for cell in row] for row in rows.itertuples(index=False)]))`

const tools: readonly Tool[] = [
  {
    id: 'curl',
    command: (file) => ['bash', file],
    more: '',
    cells: (printed) => {
      const [, ...rows]: string[][] = parse(printed)
      return rows.map((row) => row.map((cell) => (cell === '' ? null : cell)))
    },
  },
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
    more: "console.log('\\n=', JSON.stringify(rows))",
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
  // More rows than a page of the form; every cell, 131 columns.
  ['financials', `year=gte.2020&limit=200&cursor=x&format=json`, 1650],
  // A quote, a plus, an apostrophe, a dollar and a backslash in what is asked for.
  [
    'financials',
    `name=isdistinct.${encodeURIComponent(`"O'N+$HOME\\"`)}&year=eq.2025&select=year,name&limit=9`,
    281,
  ],
  // Decimals with their zeros, dates, lists, a column without any value.
  [
    'procurement',
    'okpd2=eq.35.11.10.111&select=sign_date,price,paid_rub,okpd2_codes,customer_name',
    21,
  ],
  // No row at all.
  ['procurement', 'okpd2=eq.0&select=reg_number,price', 0],
]

await t.test('what each snippet reads are all rows, cell by cell', async (t) => {
  // The order of columns is CSV's: JSON.parse loses it of names like 2110.
  const world = await startShipped(t)
  const baseUrl = `http://127.0.0.1:${await listen(world)}`
  const { token } = await world.subscribe(['financials:pro', 'procurement:pro'])
  for (const [dataset, query, count] of questions) {
    const asked = query.replaceAll(/&(?:limit|cursor|format)=\w+/g, '')
    const csv = await world.get(`/v1/${dataset}?${asked}&limit=1&format=csv`, token)
    const columns = (linesOf(csv.text)[0] ?? '').trimEnd().split(',')
    const { text } = await world.get(`/v1/${dataset}/export?${asked}`, token)
    const lines = linesOf(text).filter((line) => !line.startsWith('{"cursor":'))
    const exact = cellsOfRows(
      lines.map((line) => JSON.parse(withTexts(line)) as Row),
      columns,
    )
    t.equal(exact.length, count, query)
    for (const tool of tools) {
      const before = await rowsUsed(world, token)
      const question = { baseUrl, dataset, kind: 'rows', query, token } as const
      const printed = await run(world.folder, tool, question)
      t.equal((await rowsUsed(world, token)) - before, count, `${tool.id}: paid once`)
      // JavaScript and pandas have no 240000.00.
      const written = ['javascript', 'python'].includes(tool.id) ? withoutZeros : same
      t.same(written(tool.cells(printed, columns)), written(exact), `${tool.id}: ${query}`)
    }
  }
})

await t.test('the MCP configuration lets a client in, with the token that it names', async (t) => {
  const world = await startShipped(t)
  const baseUrl = `http://127.0.0.1:${await listen(world)}`
  const { token } = await world.subscribe(['procurement:pro'])
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
    ['/schema', '{"columns":[]}'],
    ['format=csv', 'a\r\n1\r\n'],
    ['', '{"a":1}\n{"cursor":null,"complete":true}\n'],
  ] as const
  const asked: { url: string; authorization: string | undefined }[] = []
  const server = createServer(({ url = '', method, headers }, response) => {
    if (method === 'GET') asked.push({ url, authorization: headers.authorization })
    response.end(answers.find(([part]) => url.includes(part))?.[1])
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
    const schema = asked.splice(0).map((each) => decodeURIComponent(each.url))
    t.same(schema, tool.id === 'python' ? [`/v1/${hostile}/schema`] : [], tool.id)
    t.equal(authorization, `Bearer ${hostile}`, tool.id)
    t.equal(decodeURIComponent(pathname), `/v1/${hostile}/export`, tool.id)
    t.equal(searchParams.get('x'), `eq.${hostile}\n+я`, tool.id)
    t.equal(searchParams.get('y'), hostile.replaceAll(/[&%#]/g, ''), tool.id)
  }
})

/** The rows of this month, of all datasets. */
async function rowsUsed(world: World, token: string): Promise<number> {
  const { months } = (await world.get('/v1/account', token)).body
  return (months as readonly { readonly rows: number }[]).reduce((sum, { rows }) => sum + rows, 0)
}

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

function same(cells: Cells): Cells {
  return cells
}

/** Each decimal as JavaScript writes it. */
function withoutZeros(cells: Cells): Cells {
  const decimal = /^-?\d+\.\d+$/
  return cells.map((row) =>
    row.map((cell) => (cell !== null && decimal.test(cell) ? String(Number(cell)) : cell)),
  )
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
