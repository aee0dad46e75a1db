import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { listen } from '../support/answers.js'
import type { Party } from '../support/mcp/mcp-clients.js'
import {
  comeWithoutToken,
  converse,
  startStage,
  useHeader,
  withoutSignIn,
} from '../support/mcp/mcp-scenario.js'
import { exampleAfter } from '../support/pages.js'
import { startShipped } from '../support/shipped.js'
import { connectPython, python } from './fixtures/python-client.js'

/** All that this client tells of a refusal; what the server said of it, it passes over. */
const refusal = /Server returned an error response/

const parties: readonly Party[] = [
  party('the Python client, left to find out', '2026-07-28', 'auto'),
  party('the Python client in the legacy era', '2025-11-25', 'legacy'),
]

await t.test('one conversation, the same through the Python client', async (t) => {
  const stage = await startStage(t, withoutSignIn)
  for (const each of parties) await t.test(each.name, (t) => converse(t, each, stage))
})

await t.test('a Python client without a token is refused, and finds no OAuth', async (t) => {
  const stage = await startStage(t, withoutSignIn)
  const signsIn = {
    ...party('the Python client, ready to sign in', '2026-07-28', 'auto', true),
    tokenless: /Registration failed: 404 .*static API tokens, not OAuth/,
  }
  for (const each of [...parties, signsIn]) {
    await t.test(each.name, (t) => comeWithoutToken(t, each, stage))
  }
})

await t.test('a static header works beside the metadata of a sign-in', async (t) => {
  const stage = await startStage(t)
  for (const each of parties) await t.test(each.name, (t) => useHeader(t, each, stage))
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

function party(name: string, revision: string, mode: string, signsIn = false): Party {
  return {
    name,
    connect: ({ url, token, folder }) =>
      connectPython([url, mode, ...(signsIn ? [folder] : [])], { token }),
    revision,
    revoked: refusal,
    tokenless: refusal,
  }
}
