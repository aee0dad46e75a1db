import type { ConnectionJson } from '../../account-api.js'
import { button } from '../element.js'
import { listSection } from './account-parts.js'
import type { Cell, ListSection } from './account-parts.js'
import { say } from './account-words.js'

/** The agents that signed in with a token of the subscription; each can be ended. */
export function connectionsView(token: string): HTMLElement {
  const end = async ({ connection, app }: ConnectionJson) => {
    const path = `/account/connections/${connection}`
    await list.act(say.connectionEnded(app), path, token, { method: 'DELETE' })
  }
  const endButton = (connection: ConnectionJson): Cell =>
    connection.state === 'live' || connection.state === 'waiting'
      ? button(say.end, () => end(connection), { 'aria-label': say.endOf(connection.app) })
      : ''
  const list: ListSection = listSection<ConnectionJson>(token, {
    id: 'connections',
    path: '/account/connections',
    title: say.connections,
    text: say.connectionsText,
    none: say.noConnections,
    titles: [say.app, say.accessOf, say.connectedOn, say.lastUsedOn, say.state, say.action],
    cells: (connection) => [...cellsOf(connection), endButton(connection)],
  })
  return list.section
}

function cellsOf(connection: ConnectionJson): readonly Cell[] {
  const { app, target, connected_at: connected, last_used_at: used, state } = connection
  return [
    app,
    targetText(target),
    connected === null ? say.notYet : say.moment(connected),
    used === null ? say.never : say.moment(used),
    say.connectionStates[state],
  ]
}

function targetText(target: ConnectionJson['target']): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return say.thisComputer
    case 'app':
      return `${target.scheme}://`
  }
}
