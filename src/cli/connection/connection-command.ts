import type { Command } from 'commander'
import { listConnections, showConnection } from '../../control/connections/connections.js'
import { endAllConnections, endConnection } from '../../control/connections/end-connection.js'
import { showSubscription } from '../../control/subscriptions.js'
import { badRequest } from '../../errors.js'
import { addCommand, addGroup, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { amountOf, printJson, printLines } from '../print.js'
import { readFilledStore, readStore, withFilledStore } from '../state.js'
import { connectionJson, connectionLines, connectionTable } from './connection-table.js'

type RevokeFlags = Flags & { readonly all?: string }

/** `das connection …`: lists, shows and ends the connections of agents that signed in. */
export function addConnection(program: Command, parts: CliParts): void {
  const group = addGroup(
    program,
    'connection',
    'List and end the connections of agents that signed in.',
    'das connection list',
  )
  addCommand(group, {
    usage: 'list [subscription]',
    description: 'List the connections of agents: app, receiver, state; ended ones for 30 days.',
    settings: ['state'],
    json:
      'print [{id, subscription, token_id, made_by, app, redirect_uri, state, created_at, ' +
      'connected_at, last_used_at, ended_at}]',
    examples: ['das connection list', 'das connection list sub_0123456789abcdef'],
  }).action((subscription: string | undefined, flags: Flags) => list(parts, subscription, flags))
  addCommand(group, {
    usage: 'show <id>',
    description: 'Show one connection: how it was made, its token, and where its access goes.',
    settings: ['state'],
    json: 'print the connection as in das connection list',
    examples: ['das connection show con_0123456789abcdef'],
  }).action((id: string, flags: Flags) => show(parts, id, flags))
  addCommand(group, {
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
  }).action((id: string | undefined, flags: RevokeFlags) => revoke(parts, id, flags))
}

async function list(parts: CliParts, id: string | undefined, flags: Flags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  const read = id === undefined ? readStore : readFilledStore
  const found = await read(parts, state, async (store) => {
    if (id !== undefined) await showSubscription(store, id)
    return await listConnections(store, id)
  })
  const connections = found ?? []
  const now = parts.clock.now()
  if (!flags.json) return printLines(parts, ...connectionTable(parts, connections, now))
  printJson(
    parts,
    connections.map((each) => connectionJson(each, now)),
  )
}

async function show(parts: CliParts, id: string, flags: Flags): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  const connection = await readFilledStore(parts, state, (store) => showConnection(store, id))
  if (flags.json) printJson(parts, connectionJson(connection, parts.clock.now()))
  else printLines(parts, ...connectionLines(connection, parts.clock.now()))
}

async function revoke(
  parts: CliParts,
  id: string | undefined,
  { all, ...flags }: RevokeFlags,
): Promise<void> {
  const { state } = readSettings(['state'], flags, parts.environment)
  if ((id === undefined) === (all === undefined)) {
    throw badRequest('Name one connection, con_…, or a subscription with --all sub_….')
  }
  const options = { reason: 'revoked', now: parts.clock.now() } as const
  const revoked = await withFilledStore(parts, state, async (store) => {
    if (id !== undefined) return (await endConnection(store, id, options)) ? [id] : []
    const { subscriptionId } = await showSubscription(store, all ?? '')
    return await endAllConnections(store, subscriptionId, options)
  })
  if (flags.json) return printJson(parts, { revoked })
  const ended = amountOf(parts.stdout, revoked.length, 'connection')
  printLines(
    parts,
    revoked.length === 0 ? 'Nothing to end: no live connection.' : `Ended ${ended}.`,
  )
}
