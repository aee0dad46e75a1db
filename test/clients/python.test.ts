import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t from 'tap'
import { recordOf } from '../../src/registry/shape.js'
import { listen } from '../support/answers.js'
import type { McpClient, Party } from '../support/mcp/mcp-clients.js'
import { comeWithoutToken, converse, startStage } from '../support/mcp/mcp-scenario.js'
import { exampleAfter } from '../support/pages.js'
import { startShipped } from '../support/shipped.js'

const program = join('test', 'clients', 'client.py')
/** Made by `npm run test:clients`. */
const python = join('.venv', 'bin', 'python')

/** All that this client tells of a refusal; what the server said of it, it passes over. */
const refusal = /Server returned an error response/

const parties: readonly Party[] = [
  party('the Python client, left to find out', '2026-07-28', 'auto'),
  party('the Python client in the legacy era', '2025-11-25', 'legacy'),
]

await t.test('one conversation, the same through the Python client', async (t) => {
  const stage = await startStage(t)
  for (const each of parties) await t.test(each.name, (t) => converse(t, each, stage))
})

await t.test('a Python client without a token is refused, and finds no OAuth', async (t) => {
  const stage = await startStage(t)
  const signsIn = {
    ...party('the Python client, ready to sign in', '2026-07-28', 'auto', 'sign-in'),
    tokenless: /Registration failed: 404 .*static API tokens, not OAuth/,
  }
  for (const each of [...parties, signsIn]) {
    await t.test(each.name, (t) => comeWithoutToken(t, each, stage))
  }
})

await t.test('the Python program of docs/mcp.md lists the shipped datasets', async (t) => {
  const world = await startShipped(t)
  const base = `http://127.0.0.1:${await listen(world)}`
  const { stdout } = await promisify(execFile)(python, [
    '-c',
    exampleAfter('docs/mcp.md', '### Python', 'python', base),
  ])
  t.match(stdout, "'name': 'financials'")
})

function party(name: string, revision: string, ...how: readonly string[]): Party {
  return {
    name,
    connect: ({ url, token }) =>
      connectPython([url, ...how], token === null ? {} : { DAS_TOKEN: token }),
    revision,
    revoked: refusal,
    tokenless: refusal,
  }
}

async function connectPython(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<McpClient> {
  const child = spawn(python, [program, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const hear = answersOf(child)
  const close = async () => {
    child.stdin.end()
    await exited
  }
  const greeting = await hear().catch(async (cause: unknown) => {
    await close()
    throw cause
  })
  const ask = (method: string, params: object = {}) => {
    child.stdin.write(`${JSON.stringify({ method, params })}\n`)
    return hear()
  }
  return {
    getServerVersion: () => recordOf(greeting['serverInfo']),
    getInstructions: () => String(greeting['instructions']),
    listTools: () => ask('list_tools'),
    callTool: (call) => ask('call_tool', call),
    listResources: () => ask('list_resources'),
    readResource: (resource) => ask('read_resource', resource),
    listPrompts: () => ask('list_prompts'),
    getPrompt: (prompt) => ask('get_prompt', prompt),
    close,
  }
}

/** Reads the program's next answer; rejects with its error, or when it has ended. */
function answersOf({ stdout }: ChildProcess): () => Promise<Readonly<Record<string, unknown>>> {
  if (!stdout) throw new TypeError('a program whose words are read')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return async () => {
    const { done, value } = await lines.next()
    if (done) throw new Error('the Python program has ended')
    const { result, error } = recordOf(JSON.parse(value))
    if (error !== undefined) throw new Error(String(error))
    return recordOf(result)
  }
}
