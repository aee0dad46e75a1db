import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { hashToken, parseToken, tokenHint, tokensIn } from '../../control/tokens/token-format.js'
import { findToken } from '../../control/tokens/tokens.js'
import type { TokenRecord } from '../../control/tokens/tokens.js'
import { badRequest } from '../../errors.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { day, printJson, printLines, tableLines } from '../print.js'
import { registryIfReadable } from '../read-registry.js'
import { readStore } from '../state.js'
import { stateOf } from './token-table.js'

interface Finding {
  readonly hint: string
  readonly isWellFormed: boolean
  /** Null for one that is not in the store; the demo token is not in it either. */
  readonly record: TokenRecord | null
  /** `live`, or why it is refused. */
  readonly state: string
}

type Find = (hash: Buffer) => TokenRecord | undefined

const tokensMax = 10_000

/** `das token check`: what tokens are worth, without one on a command line or in its history. */
export function addTokenCheck(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'check',
    description:
      'Read a token, or any text with tokens in it, from stdin, and say whether each is ' +
      'well-formed, known and live. Ends with 0 when all are live.',
    settings: ['registry', 'state'],
    json: 'print [{hint, well_formed, known, live, state, token_id, subscription}]',
    examples: ['das token check < token.txt', 'git log -p | das token check'],
  }).action((flags: Flags) => check(parts, flags))
}

async function check(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const tokens = await readTokens(parts)
  if (tokens.length === 0) {
    throw badRequest('No token there: one begins with das_live_ or das_demo_.')
  }
  const needsRegistry = tokens.some((token) => token.startsWith('das_demo_'))
  const registry = needsRegistry ? await registryIfReadable(parts, config.registry) : null
  const now = parts.now()
  const examineAll = (find: Find) =>
    tokens.map((token) => examine(token, find, registry?.demo?.token ?? null, now))
  const findings =
    readStore(config.state, (store) => examineAll((hash) => findToken(store, hash))) ??
    examineAll(() => undefined)
  if (flags.json) printJson(parts, findings.map(findingJson))
  else printLines(parts, ...findingLines(parts, findings))
  const refused = findings.filter(({ state }) => state !== 'live').length
  if (refused > 0) throw new Error(`${refused} of ${findings.length} can't be used.`)
}

/** Of a terminal the first line; of anything else all of it, line by line. */
async function readTokens({ stdin, stderr }: CliParts): Promise<readonly string[]> {
  if (stdin.isTTY) stderr.write('Paste a token and press Enter: ')
  const lines = createInterface({ input: stdin })
  const tokens = new Set<string>()
  for await (const line of lines) {
    for (const token of tokensIn(line)) tokens.add(token)
    if (tokens.size > tokensMax) throw badRequest(`More than ${tokensMax} tokens at once.`)
    if (stdin.isTTY) break
  }
  lines.close()
  return [...tokens]
}

function examine(token: string, find: Find, demoToken: string | null, now: number): Finding {
  const hint = tokenHint(token)
  const parsed = parseToken(token)
  if (!parsed) {
    return { hint, isWellFormed: false, record: null, state: 'malformed: cut, or mistyped' }
  }
  if (parsed.kind === 'demo') {
    const isOurs = demoToken !== null && parsed.hash.equals(hashToken(demoToken))
    return { hint, isWellFormed: true, record: null, state: isOurs ? 'live' : 'unknown' }
  }
  const record = find(parsed.hash) ?? null
  return { hint, isWellFormed: true, record, state: record ? recordState(record, now) : 'unknown' }
}

function recordState(record: TokenRecord, now: number): string {
  const { revokedAt, tokenExpiresAt, subscriptionExpiresAt: expiresAt, cancelledAt } = record
  if (revokedAt !== null) return `revoked ${day(revokedAt)}`
  if (tokenExpiresAt !== null && tokenExpiresAt <= now) return 'replaced'
  return stateOf({ cancelledAt, expiresAt }, now)
}

function findingJson({ hint, isWellFormed, record, state }: Finding) {
  return {
    hint,
    well_formed: isWellFormed,
    known: record !== null || state === 'live',
    live: state === 'live',
    state,
    token_id: record?.tokenId ?? null,
    subscription: record?.subscriptionId ?? null,
  }
}

function findingLines({ stdout }: CliParts, findings: readonly Finding[]): readonly string[] {
  const rows = findings.map(({ hint, state, record }) => [
    hint,
    state,
    record?.tokenId ?? null,
    record?.subscriptionId ?? null,
  ])
  return tableLines(stdout, ['TOKEN', 'STATE', 'TOKEN ID', 'SUBSCRIPTION'], rows)
}
