import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { inOrder } from '../../control/in-order.js'
import { hashToken, parseToken, tokenHint, tokensIn } from '../../control/tokens/token-format.js'
import { recordState, tokenStateText } from '../../control/tokens/token-state.js'
import { findToken } from '../../control/tokens/tokens.js'
import type { TokenRecord } from '../../control/tokens/tokens.js'
import { badRequest } from '../../errors.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { printJson, printLines } from '../print.js'
import { registryIfReadable } from '../read-registry.js'
import { readStore } from '../state.js'
import { tableLines } from '../table.js'

interface CheckedToken {
  readonly hint: string
  readonly isWellFormed: boolean
  /** Null when the store does not have it; the store never has the demo token. */
  readonly record: TokenRecord | null
  /** `live`, or why it is refused. */
  readonly state: string
}

type FindRecord = (hash: Buffer) => Promise<TokenRecord | undefined>

const tokensMax = 10_000

/** `das token check`: reads tokens from stdin, so that none is in the shell's history. */
export function addTokenCheck(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'check',
    description:
      'Read a token, or any text with tokens in it, from stdin and print whether each is ' +
      'well-formed, known and live. Exits with 0 if all are live, else with 1.',
    settings: ['registry', 'state'],
    json: 'print [{hint, well_formed, known, live, state, token_id, subscription}]',
    examples: ['das token check < token.txt', 'git log -p | das token check'],
  }).action((flags: Flags) => check(parts, flags))
}

async function check(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state'], flags, parts.environment)
  const tokens = await readTokens(parts)
  if (tokens.length === 0) {
    throw badRequest('The input has no token. A token begins with das_live_ or das_demo_.')
  }
  const needsRegistry = tokens.some((token) => token.startsWith('das_demo_'))
  const registry = needsRegistry ? await registryIfReadable(parts, config.registry) : null
  const now = parts.clock.now()
  const checkAll = async (find: FindRecord) =>
    await inOrder(tokens, (token) => checkToken(token, find, registry?.demo?.token ?? null, now))
  const checked =
    (await readStore(parts, config.state, (store) => checkAll((hash) => findToken(store, hash)))) ??
    (await checkAll(async () => undefined))
  if (flags.json) printJson(parts, checked.map(checkedJson))
  else printLines(parts, ...checkedLines(parts, checked))
  const refused = checked.filter(({ state }) => state !== 'live').length
  if (refused > 0) throw new Error(`${refused} of ${checked.length} tokens are not live.`)
}

/** Reads one line from a terminal, and all lines from any other input. */
async function readTokens({ stdin, stderr }: CliParts): Promise<readonly string[]> {
  if (stdin.isTTY) stderr.write('Paste a token and press Enter: ')
  const lines = createInterface({ input: stdin })
  const tokens = new Set<string>()
  for await (const line of lines) {
    for (const token of tokensIn(line)) tokens.add(token)
    if (tokens.size > tokensMax) {
      throw badRequest(`The input has more than ${tokensMax} tokens. Split it.`)
    }
    if (stdin.isTTY) break
  }
  lines.close()
  return [...tokens]
}

async function checkToken(
  token: string,
  find: FindRecord,
  demoToken: string | null,
  now: number,
): Promise<CheckedToken> {
  const hint = tokenHint(token)
  const parsed = parseToken(token)
  if (!parsed) {
    return { hint, isWellFormed: false, record: null, state: 'malformed: cut, or mistyped' }
  }
  if (parsed.kind === 'demo') {
    const isOurs = demoToken !== null && parsed.hash.equals(hashToken(demoToken))
    return { hint, isWellFormed: true, record: null, state: isOurs ? 'live' : 'unknown' }
  }
  const record = (await find(parsed.hash)) ?? null
  if (!record) return { hint, isWellFormed: true, record, state: 'unknown' }
  const state = tokenStateText(recordState(record, now), record.revokedAt)
  return { hint, isWellFormed: true, record, state }
}

function checkedJson({ hint, isWellFormed, record, state }: CheckedToken) {
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

function checkedLines({ stdout }: CliParts, tokens: readonly CheckedToken[]): readonly string[] {
  const rows = tokens.map(({ hint, state, record }) => [
    hint,
    state,
    record?.tokenId ?? null,
    record?.subscriptionId ?? null,
  ])
  return tableLines(stdout, ['TOKEN', 'STATE', 'TOKEN ID', 'SUBSCRIPTION'], rows)
}
