import type { OwnConnection } from '../../service/own-connections.js'
import { redirectTarget } from '../../control/connections/redirect-target.js'
import { plainText } from '../../plain-text.js'
import { isoTime } from '../../text.js'
import type { ConnectionJson } from '../../portal/account/account-api.js'

/** A connection in JSON. */
export function connectionJson(connection: OwnConnection): ConnectionJson {
  const { connectionId, clientName, redirectUri, connectedAt, lastUsedAt, state } = connection
  return {
    connection: connectionId,
    app: plainText(clientName),
    target: redirectTarget(redirectUri) ?? { kind: 'computer' },
    connected_at: isoOrNull(connectedAt),
    last_used_at: isoOrNull(lastUsedAt),
    state,
  }
}

/** A time in JSON. */
export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}
