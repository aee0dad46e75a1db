import { isoTimeOrNull } from '../text.js'
import type { Command } from 'commander'
import { createInterface } from 'node:readline/promises'
import { inOrder } from '../control/in-order.js'
import type { Config } from '../config.js'
import type { ControlStore } from '../control/store/store.js'
import { listSubscriptions, showSubscription } from '../control/subscriptions.js'
import type { Subscription } from '../control/subscriptions.js'
import { hashToken, parseToken, tokenHint, tokensIn } from '../control/tokens/token-format.js'
import { recordState, subscriptionEndText, tokenStateText } from '../control/tokens/token-state.js'
import { findToken, listTokens, reissueToken, revokeToken } from '../control/tokens/tokens.js'
import type { ReissuedToken, TokenRecord } from '../control/tokens/tokens.js'
import { badRequest } from '../errors.js'
import { addCommand, addGroup, addPrinted, readSettings } from './command.js'
import type { Result } from './command.js'
import { issueWithLetter, mailSettingNames, mailToken, noMailFlag, readMailing } from './mailing.js'
import type { MailFlags } from './mailing.js'
import type { CliParts } from './parts.js'
import { minute, printJson, printLines } from './print.js'
import { listLines } from './table.js'
import { registryIfReadable } from './read-registry.js'
import { readFilledStore, readStore, withFilledStore } from './state.js'
import { parseDuration } from './duration.js'
import { tokensJson, tokenTable } from './token-table.js'

type ReissueFlags = MailFlags & { readonly grace: string; readonly keepConnections?: true }

/** `das token …`: replaces, ends, lists and checks tokens. */
export function addToken(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'token',
    'Replace, revoke, list and check tokens.',
    'das token list',
  )
  addCommand(group, {
    usage: 'reissue <subscription>',
    description: 'Issue and mail a new token; earlier tokens stop working after the grace period.',
    options: (command) =>
      command
        .option('--grace <time>', 'how long earlier tokens still work: 30m, 24h, 7d, or 0', '24h')
        .option('--keep-connections', 'agents that signed in with earlier tokens go on')
        .option(...noMailFlag),
    settings: mailSettingNames,
    json: 'print {subscription, token_id, token, previous_valid_until, kept_connections, mailed}',
    examples: [
      'das token reissue sub_0123456789abcdef --grace 24h',
      'das token reissue sub_0123456789abcdef --grace 0',
      'das token reissue sub_0123456789abcdef --keep-connections',
    ],
  }).action((subscription: string, flags: ReissueFlags) => reissue(parts, subscription, flags))
  addPrinted(group, parts, {
    usage: 'revoke <id>',
    description: 'Refuse a token from the next request on. This cannot be undone.',
    settings: ['state'],
    json: 'print {token_id, subscription, revoked_at}',
    examples: ['das token revoke tok_0123456789abcdef'],
    run: ({ state }, _flags, id: string) => revoke(parts, state, id),
  })
  addPrinted(group, parts, {
    usage: 'list [subscription]',
    description: 'List tokens by id and last characters; a whole token is never shown.',
    settings: ['state'],
    json: 'print [{id, subscription, hint, state, created_at, expires_at, …, last_used_at}]',
    examples: ['das token list', 'das token list sub_0123456789abcdef'],
    run: ({ state }, _flags, id: string | undefined) => list(parts, state, id),
  })
  addTokenCheck(group, parts)
}

async function reissue(parts: CliParts, id: string, flags: ReissueFlags): Promise<void> {
  const config = readSettings(mailSettingNames, flags, parts.environment)
  const mailing = readMailing(config, flags)
  const graceMs = parseDuration(flags.grace, '--grace')
  const { state: stateFolder } = config
  const { clock } = parts
  const { issued, subscription } = await withFilledStore(parts, stateFolder, async (store) => {
    const { cancelledAt } = await showSubscription(store, id)
    if (cancelledAt !== null) {
      throw badRequest(`Subscription '${id}' is cancelled: a new token would be refused.`)
    }
    const options = { graceMs, now: clock.now, keepsConnections: flags.keepConnections ?? false }
    const issue = async (tx: ControlStore) => ({
      ...(await reissueToken(tx, id, options)),
      subscriptionId: id,
    })
    return {
      issued: await issueWithLetter(store, {
        mailing,
        stateFolder,
        kind: 'reissued-token',
        clock,
        issue,
      }),
      subscription: await showSubscription(store, id),
    }
  })
  if (!flags.json) printLines(parts, ...reissuedLines(issued, subscription, clock.now()))
  const { letter, previousValidUntil } = issued
  const mailed = await mailToken(parts, config, flags, { letter, email: subscription.email })
  if (!flags.json) return
  printJson(parts, {
    subscription: id,
    token_id: issued.tokenId,
    token: issued.token,
    previous_valid_until: isoTimeOrNull(previousValidUntil),
    kept_connections: issued.keptConnections,
    mailed,
  })
}

function reissuedLines(
  issued: ReissuedToken,
  subscription: Subscription,
  now: number,
): readonly string[] {
  return [
    `New token ${issued.tokenId} of ${subscription.subscriptionId}. ` +
      'Copy it now: it is shown only once.',
    '',
    issued.token,
    '',
    previousText(issued, now),
    ...keptText(issued),
    ...endedText(subscription, now),
  ]
}

function previousText({ previousValidUntil }: ReissuedToken, now: number): string {
  if (previousValidUntil === null) return 'No earlier token was live.'
  if (previousValidUntil <= now) return 'Earlier tokens no longer work.'
  return `Earlier tokens work until ${minute(previousValidUntil)}.`
}

function keptText({ keptConnections }: ReissuedToken): readonly string[] {
  return keptConnections === 0 ? [] : [`Agents' connections that go on: ${keptConnections}.`]
}

function endedText(subscription: Subscription, now: number): readonly string[] {
  const end = subscriptionEndText(subscription, now)
  return end === null ? [] : [`The subscription ${end}: its tokens are refused.`]
}

async function revoke(parts: CliParts, state: string, id: string): Promise<Result> {
  if (/^das_(live|demo)_/.test(id)) {
    throw badRequest('This is a token. Use its id, tok_…, which das token list shows.')
  }
  const token = await withFilledStore(parts, state, async (store) => {
    await revokeToken(store, id, parts.clock.now)
    return (await listTokens(store)).find((each) => each.tokenId === id)
  })
  const { subscriptionId: subscription, hint, revokedAt = null } = token ?? {}
  return {
    json: { token_id: id, subscription, revoked_at: isoTimeOrNull(revokedAt) },
    lines: [
      `Token ${id} (${hint}) is revoked.`,
      `To issue a new one: das token reissue ${subscription}`,
    ],
  }
}

async function list(parts: CliParts, state: string, id: string | undefined): Promise<Result> {
  const read = id === undefined ? readStore : readFilledStore
  const found = await read(parts, state, async (store) => ({
    subscriptions:
      id === undefined ? await listSubscriptions(store) : [await showSubscription(store, id)],
    tokens: await listTokens(store, id),
  }))
  const { tokens, subscriptions } = found ?? { tokens: [], subscriptions: [] }
  return {
    json: tokensJson(parts, tokens, subscriptions),
    lines: tokenTable(parts, tokens, subscriptions),
  }
}

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
function addTokenCheck(group: Command, parts: CliParts): void {
  addPrinted(group, parts, {
    usage: 'check',
    description:
      'Read a token, or any text with tokens in it, from stdin and print whether each is ' +
      'well-formed, known and live. Exits with 0 if all are live, else with 1.',
    settings: ['registry', 'state'],
    json: 'print [{hint, well_formed, known, live, state, token_id, subscription}]',
    examples: ['das token check < token.txt', 'git log -p | das token check'],
    run: (config) => check(parts, config),
  })
}

async function check(parts: CliParts, config: Pick<Config, 'registry' | 'state'>): Promise<Result> {
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
  const refused = checked.filter(({ state }) => state !== 'live').length
  return {
    json: checked.map(checkedJson),
    lines: listLines(parts.stdout, checked, {
      TOKEN: (each) => each.hint,
      STATE: (each) => each.state,
      'TOKEN ID': (each) => each.record?.tokenId ?? null,
      SUBSCRIPTION: (each) => each.record?.subscriptionId ?? null,
    }),
    failure:
      refused > 0 ? new Error(`${refused} of ${checked.length} tokens are not live.`) : undefined,
  }
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
