import type { Command } from 'commander'
import type { ControlStore } from '../../control/store/store.js'
import { listSubscriptions, showSubscription } from '../../control/subscriptions.js'
import type { Subscription } from '../../control/subscriptions.js'
import { subscriptionEndText } from '../../control/tokens/token-state.js'
import { listTokens, reissueToken, revokeToken } from '../../control/tokens/tokens.js'
import type { ReissuedToken } from '../../control/tokens/tokens.js'
import { badRequest } from '../../errors.js'
import { addCommand, addGroup, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import {
  issueWithLetter,
  mailSettingNames,
  mailToken,
  noMailFlag,
  readMailing,
} from '../mail/mailing.js'
import type { MailFlags } from '../mail/mailing.js'
import type { CliParts } from '../parts.js'
import { isoTimeOrNull, minute, printJson, printLines } from '../print.js'
import { readFilledStore, readStore, withFilledStore } from '../state.js'
import { parseDuration } from './duration.js'
import { addTokenCheck } from './token-check.js'
import { tokenJson, tokenTable } from './token-table.js'

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
  addCommand(group, {
    usage: 'revoke <id>',
    description: 'Refuse a token from the next request on. This cannot be undone.',
    settings: ['state'],
    json: 'print {token_id, subscription, revoked_at}',
    examples: ['das token revoke tok_0123456789abcdef'],
  }).action((id: string, flags: Flags) => revoke(parts, id, flags))
  addCommand(group, {
    usage: 'list [subscription]',
    description: 'List tokens by id and last characters; a whole token is never shown.',
    settings: ['state'],
    json: 'print [{id, subscription, hint, created_at, expires_at, revoked_at, last_used_at}]',
    examples: ['das token list', 'das token list sub_0123456789abcdef'],
  }).action((subscription: string | undefined, flags: Flags) => list(parts, subscription, flags))
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
  const { email } = subscription
  const isJson = flags.json ?? false
  const mailed = await mailToken(parts, config, { mailing, letter, email, isJson })
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

async function revoke(parts: CliParts, id: string, flags: Flags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  if (/^das_(live|demo)_/.test(id)) {
    throw badRequest('This is a token. Use its id, tok_…, which das token list shows.')
  }
  const token = await withFilledStore(parts, state, async (store) => {
    await revokeToken(store, id, parts.clock.now)
    return (await listTokens(store)).find((each) => each.tokenId === id)
  })
  if (flags.json) {
    return printJson(parts, {
      token_id: id,
      subscription: token?.subscriptionId,
      revoked_at: isoTimeOrNull(token?.revokedAt ?? null),
    })
  }
  printLines(
    parts,
    `Token ${id} (${token?.hint}) is revoked.`,
    `To issue a new one: das token reissue ${token?.subscriptionId}`,
  )
}

async function list(parts: CliParts, id: string | undefined, flags: Flags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  const read = id === undefined ? readStore : readFilledStore
  const found = await read(parts, state, async (store) => ({
    subscriptions:
      id === undefined ? await listSubscriptions(store) : [await showSubscription(store, id)],
    tokens: await listTokens(store, id),
  }))
  const { tokens, subscriptions } = found ?? { tokens: [], subscriptions: [] }
  if (flags.json) printJson(parts, tokens.map(tokenJson))
  else printLines(parts, ...tokenTable(parts, tokens, subscriptions))
}
