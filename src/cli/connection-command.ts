import type { Command } from 'commander'
import { connectionState, listConnections } from '../control/connections/connections.js'
import type { Connection } from '../control/connections/connections.js'
import { endAllConnections, endConnection } from '../control/connections/end-connection.js'
import { redirectTarget } from '../control/connections/redirect-target.js'
import { showSubscription } from '../control/subscriptions.js'
import { badRequest } from '../errors.js'
import { plainText } from '../plain-text.js'
import { isoTime, isoTimeOrNull } from '../text.js'
import { addGroup, addPrinted } from './command.js'
import type { Flags, Result } from './command.js'
import type { CliParts } from './parts.js'
import { amountOf, day, minute } from './print.js'
import { linesOrNone } from './table.js'
import { readFilledStore, readStore, withFilledStore } from './state.js'

type RevokeFlags = Flags & { readonly all?: string }

/** `das connection …`: lists and ends the connections of agents that signed in. */
export function addConnection(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'connection',
    'List and end the connections of agents that signed in.',
    'das connection list',
  )
  addPrinted(group, parts, {
    usage: 'list [subscription]',
    description: 'List the connections of agents: app, receiver, state; ended ones for 30 days.',
    settings: ['state'],
    json:
      'print [{id, subscription, token_id, made_by, app, redirect_uri, state, created_at, ' +
      'connected_at, last_used_at, ended_at}]',
    examples: ['das connection list', 'das connection list sub_0123456789abcdef'],
    run: ({ state }, _flags, id: string | undefined) => list(parts, state, id),
  })
  addPrinted(group, parts, {
    usage: 'revoke [id]',
    description:
      'End a connection, or all of a subscription, from the next request on. Its token stays ' +
      'valid.',
    options: (command) =>
      command.option('--all <subscription>', 'end all connections of this subscription'),
    settings: ['state'],
    json: 'print {revoked: [id…]}',
    examples: [
      'das connection revoke con_0123456789abcdef',
      'das connection revoke --all sub_0123456789abcdef',
    ],
    run: ({ state }, { all }: RevokeFlags, id: string | undefined) => revoke(parts, state, id, all),
  })
}

async function list(parts: CliParts, state: string, id: string | undefined): Promise<Result> {
  const read = id === undefined ? readStore : readFilledStore
  const found = await read(parts, state, async (store) => {
    if (id !== undefined) await showSubscription(store, id)
    return await listConnections(store, id)
  })
  const now = parts.clock.now()
  return {
    json: (found ?? []).map((each) => connectionJson(each, now)),
    lines: linesOrNone(parts.stdout, found ?? [], 'No agent has signed in.', {
      CONNECTION: (each) => each.connectionId,
      SUBSCRIPTION: (each) => each.subscriptionId ?? 'demo',
      APP: (each) => plainText(each.clientName),
      'ACCESS GOES TO': receiverOf,
      STATE: (each) => connectionState(each, now),
      MADE: (each) => day(each.createdAt),
      'LAST USED': ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : minute(lastUsedAt)),
    }),
  }
}

async function revoke(
  parts: CliParts,
  state: string,
  id: string | undefined,
  all: string | undefined,
): Promise<Result> {
  if ((id === undefined) === (all === undefined)) {
    throw badRequest('Name one connection, con_…, or a subscription with --all sub_….')
  }
  const options = { reason: 'revoked', now: parts.clock.now() } as const
  const revoked = await withFilledStore(parts, state, async (store) => {
    if (id !== undefined) return (await endConnection(store, id, options)) ? [id] : []
    const { subscriptionId } = await showSubscription(store, all ?? '')
    return await endAllConnections(store, subscriptionId, options)
  })
  const ended = amountOf(parts.stdout, revoked.length, 'connection')
  const line = revoked.length === 0 ? 'Nothing to end: no live connection.' : `Ended ${ended}.`
  return { json: { revoked }, lines: [line] }
}

/** A connection in JSON output. */
function connectionJson(connection: Connection, now: number) {
  return {
    id: connection.connectionId,
    subscription: connection.subscriptionId,
    token_id: connection.tokenId,
    made_by: connection.madeBy,
    app: connection.clientName,
    redirect_uri: connection.redirectUri,
    state: connectionState(connection, now),
    created_at: isoTime(connection.createdAt),
    connected_at: isoTimeOrNull(connection.connectedAt),
    last_used_at: isoTimeOrNull(connection.lastUsedAt),
    ended_at: isoTimeOrNull(connection.endedAt),
  }
}

function receiverOf({ redirectUri }: Connection): string {
  const target = redirectTarget(redirectUri)
  switch (target?.kind) {
    case 'site':
      return target.host
    case 'app':
      return `${target.scheme}://`
    default:
      return 'this computer'
  }
}
