import { connectionState } from '../../control/connections/connections.js'
import type { Connection } from '../../control/connections/connections.js'
import { plainText } from '../../plain-text.js'
import { isoTime } from '../../text.js'
import { redirectTarget } from '../../control/connections/redirect-target.js'
import type { CliParts } from '../parts.js'
import { day, isoTimeOrNull, minute } from '../print.js'
import { tableLines } from '../table.js'

/** A connection in JSON output. */
export function connectionJson(connection: Connection, now: number) {
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

/** Connections as a table, or that there are none. */
export function connectionTable(
  { stdout }: CliParts,
  connections: readonly Connection[],
  now: number,
): readonly string[] {
  if (connections.length === 0) return ['No agent has signed in.']
  const titles = [
    'CONNECTION',
    'SUBSCRIPTION',
    'APP',
    'ACCESS GOES TO',
    'STATE',
    'MADE',
    'LAST USED',
  ]
  const rows = connections.map((connection) => [
    connection.connectionId,
    connection.subscriptionId ?? 'demo',
    plainText(connection.clientName),
    receiverOf(connection),
    connectionState(connection, now),
    day(connection.createdAt),
    connection.lastUsedAt === null ? 'never' : minute(connection.lastUsedAt),
  ])
  return tableLines(stdout, titles, rows)
}

/** A connection line by line. */
export function connectionLines(connection: Connection, now: number): readonly string[] {
  const { subscriptionId, connectedAt, lastUsedAt, endedAt } = connection
  const facts: readonly (readonly [string, string])[] = [
    ['connection', connection.connectionId],
    ['subscription', subscriptionId ?? 'the public demo token'],
    ...tokenFacts(connection),
    ['app', plainText(connection.clientName)],
    ['access goes to', connection.redirectUri],
    ['state', connectionState(connection, now)],
    ['made', minute(connection.createdAt)],
    ['connected', connectedAt === null ? 'not yet' : minute(connectedAt)],
    ['last used', lastUsedAt === null ? 'never' : minute(lastUsedAt)],
    ...(endedAt === null ? [] : [['ended', minute(endedAt)] as const]),
  ]
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
}

function tokenFacts({
  tokenId,
  tokenHint,
  madeBy,
}: Connection): readonly (readonly [string, string])[] {
  if (tokenId === null) return []
  const token = `${tokenId} (${tokenHint})`
  if (madeBy === 'token') return [['made with', token]]
  return [
    ['made with', 'a mailed code'],
    ['ends with', token],
  ]
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
