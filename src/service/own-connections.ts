import { requireSubscriber } from '../access/principal.js'
import type { Principal } from '../access/principal.js'
import { connectionState, listConnections } from '../control/connections/connections.js'
import type { Connection, ConnectionState } from '../control/connections/connections.js'
import { endConnection } from '../control/connections/end-connection.js'
import type { ControlStore } from '../control/store/store.js'
import { notFound } from '../errors.js'

/** A connection as the holder of its subscription's token may see it; times in ms, UTC. */
export interface OwnConnection extends Pick<
  Connection,
  'connectionId' | 'clientName' | 'redirectUri' | 'createdAt' | 'connectedAt' | 'lastUsedAt'
> {
  readonly state: ConnectionState
}

/**
 * The connections of the principal's subscription, newest first; ended ones for 30 days.
 * @throws not_found for the demo token
 */
export async function ownConnections(
  control: ControlStore,
  principal: Principal,
  now: number,
): Promise<readonly OwnConnection[]> {
  const { id } = requireSubscriber(principal)
  return (await listConnections(control, id))
    .reverse()
    .map((connection) => ({ ...connection, state: connectionState(connection, now) }))
}

/**
 * Ends a connection of the principal's subscription; one that has ended stays as it is.
 * @throws not_found, one text for an unknown connection and for one of another subscription
 */
export async function endOwnConnection(
  control: ControlStore,
  principal: Principal,
  connectionId: string,
  now: number,
): Promise<void> {
  const { id } = requireSubscriber(principal)
  await control.write(async (tx) => {
    const own = await listConnections(tx, id)
    if (!own.some((connection) => connection.connectionId === connectionId)) {
      throw notFound('This subscription has no such connection.')
    }
    await endConnection(tx, connectionId, { reason: 'revoked', now })
  })
}
