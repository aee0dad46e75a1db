import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { listen } from '../support/answers.js'
import { callTool } from '../support/mcp-messages.js'
import { mcpExample, mcpSection } from '../support/readme.js'
import { startShipped } from '../support/shipped.js'

/** What the README shows of MCP is what a reader gets who pastes it. */

const demo = 'das_demo_opendata'
const run = promisify(execFile)

interface ServerEntry {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
}

function entryAfter(sentence: string, base: string): ServerEntry {
  const text = mcpExample(sentence, 'json', base)
  return (JSON.parse(text) as { mcpServers: { datasets: ServerEntry } }).mcpServers.datasets
}

await t.test('the configurations of the README connect', async (t) => {
  const world = await startShipped(t)
  const base = `http://127.0.0.1:${await listen(world)}`
  const connected = async (transport: StreamableHTTPClientTransport | StdioClientTransport) => {
    const client = new Client({ name: 'reader', version: '1.0.0' })
    await client.connect(transport)
    try {
      const answer = await client.callTool({ name: 'list_resources', arguments: {} })
      t.match(answer.structuredContent, { resources: [{ name: 'financials', rows: 31 }, {}] })
    } finally {
      await client.close()
    }
  }
  const native = entryAfter('**Clients that send headers**', base)
  await connected(
    new StreamableHTTPClientTransport(new URL(native.url), {
      requestInit: { headers: { ...native.headers } },
    }),
  )
  const { command, args, env } = entryAfter('**Clients that only start programs**', base)
  const folder = t.testdir({})
  const home = { PATH: process.env['PATH'] ?? '', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder }
  await connected(
    new StdioClientTransport({ command, args, env: { ...home, ...env }, stderr: 'ignore' }),
  )
  const program = join(folder, 'example.mjs')
  writeFileSync(program, mcpExample('**TypeScript**', 'ts', base))
  t.match((await run(process.execPath, [program])).stdout, "name: 'financials'")
})

await t.test('the transcript of the README is a run of the shipped data', async (t) => {
  const world = await startShipped(t)
  const calls = [...mcpSection.matchAll(/^→ (\w+) (\{.*\})\n← (.*(?:\n {2}.*)*)/gm)]
  t.equal(calls.length, 5)
  for (const [, tool = '', args = '', shown = ''] of calls) {
    const { text } = await callTool(world, demo, tool, JSON.parse(args))
    const pieces = shown.replaceAll('\n  ', '\n').split('…')
    let place = 0
    for (const piece of pieces) {
      const found = text.indexOf(piece, place)
      if (found === -1) t.fail(`${tool}, not in the answer, or not there: ${piece}`)
      place = Math.max(place, found + piece.length)
    }
    t.ok(text.startsWith(pieces[0] ?? '') && text.endsWith(pieces.at(-1) ?? ''), 'to both ends')
  }
})
