import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { listen } from '../../support/answers.js'
import { exampleAfter } from '../../support/pages.js'
import { startShipped } from '../../support/shipped.js'

/** The configurations and programs of docs/mcp.md work when a reader pastes them. */

const run = promisify(execFile)

interface ServerEntry {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
}

function entryAfter(heading: string, base: string): ServerEntry {
  const text = exampleAfter('docs/mcp.md', heading, 'json', base)
  return (JSON.parse(text) as { mcpServers: { datasets: ServerEntry } }).mcpServers.datasets
}

await t.test('the configurations of docs/mcp.md connect', async (t) => {
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
  const native = entryAfter('### Clients that send headers', base)
  await connected(
    new StreamableHTTPClientTransport(new URL(native.url), {
      requestInit: { headers: { ...native.headers } },
    }),
  )
  const { command, args, env } = entryAfter('### Clients that only start programs', base)
  const folder = t.testdir({})
  const home = { PATH: process.env['PATH'] ?? '', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder }
  await connected(
    new StdioClientTransport({ command, args, env: { ...home, ...env }, stderr: 'ignore' }),
  )
  const program = join(folder, 'example.mjs')
  writeFileSync(program, exampleAfter('docs/mcp.md', '### TypeScript', 'ts', base))
  t.match((await run(process.execPath, [program])).stdout, "name: 'financials'")
})
