import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { recordOf } from '../../src/registry/shape.js'
import { sendConsent } from '../../test/support/mcp/signing-in.js'
import { freePort } from '../harness/free-port.js'
import { eventually } from '../harness/wait.js'
import { readOutcomes, requireNode, startNpm, suites } from './suite.js'
import type { Outcome, SuiteParts } from './suite.js'

interface AuthorizationParts extends Omit<SuiteParts, 'version'> {
  /** The origin of the server, which is the issuer. */
  readonly issuer: string
  /** What the person pastes on the page. */
  readonly token: string
}

/** Only this version has the scenarios. They are the same in every revision of the protocol. */
export const authorizationSuite = {
  version: suites['2026-07-28'].version,
  part: 'conformance authorization',
}

const host = '127.0.0.1'
/** For the first scenario, under load. */
const askMs = 240_000

/**
 * Runs the suite's scenarios for authorization servers: it asks for a page as a client does, a
 * person connects there, and it exchanges the code.
 * @throws Error when a scenario checked nothing
 */
export async function runAuthorization(parts: AuthorizationParts): Promise<readonly Outcome[]> {
  const { issuer, token, folder, cleanup } = parts
  const { version, part } = authorizationSuite
  const suite = { version, folder, cleanup }
  const results = join(folder, 'results')
  await mkdir(results)
  await requireNode(suite)
  const port = await freePort(host)
  const { ended, output } = startNpm(suite, [
    ...part.split(' '),
    ...['--url', issuer],
    ...['--client-id', await register(issuer, `http://${host}:${port}/callback`)],
    ...['--port', String(port)],
    ...['--resource', `${issuer}/mcp`],
    ...['--output-dir', results],
  ])
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  const page = await eventually('the suite asks for a page', { withinMs: askMs }, async () => {
    const asked = new RegExp(`^${issuer}/authorize\\?\\S+$`, 'm').exec(output())?.[0]
    return asked ?? (isOver ? null : undefined)
  })
  if (page === null) throw new Error(`the suite asked for no page:\n${output()}`)
  const { status, location } = await sendConsent(page, token)
  if (location === null) throw new Error(`the page answered ${status} and leads nowhere`)
  await fetch(location)
  await ended
  const outcomes = await readOutcomes(results, 'authorization-server', new Set())
  const isChecked = outcomes.every(({ checksPassed, faults }) => checksPassed + faults.length > 0)
  if (outcomes.length > 0 && isChecked) return outcomes
  throw new Error(`the suite left out a scenario:\n${output()}`)
}

/** Registers the suite as a client; its id. */
async function register(issuer: string, redirectUri: string): Promise<string> {
  const response = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [redirectUri] }),
  })
  const id = recordOf(await response.json())['client_id']
  if (typeof id !== 'string') throw new Error(`registration was answered ${response.status}`)
  return id
}
