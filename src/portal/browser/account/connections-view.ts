import type { ConnectionJson } from '../../account-api.js'
import { button, element } from '../element.js'
import { statusLine, table } from './account-parts.js'
import type { Cell } from './account-parts.js'
import { say } from './account-words.js'

/** The agents that signed in with a token of the subscription; each can be ended. */
export function connectionsView(token: string): HTMLElement {
  const status = statusLine()
  const place = element('div')
  const nothing = element('p', { class: 'muted' }, say.noConnections)
  const load = async () => {
    const answer = await status.ask('/account/connections', token)
    if (answer === null) return
    // The server's `connectionJson` wrote them.
    const { data } = answer as { readonly data: readonly ConnectionJson[] }
    place.replaceChildren(data.length === 0 ? nothing : list(data))
  }
  const end = async ({ connection, app }: ConnectionJson) => {
    const path = `/account/connections/${connection}`
    if ((await status.ask(path, token, { method: 'DELETE' })) === null) return
    await load()
    status.sayDone(say.connectionEnded(app))
  }
  const list = (connections: readonly ConnectionJson[]) =>
    table(
      say.connections,
      [say.app, say.accessOf, say.connectedOn, say.lastUsedOn, say.state, say.action],
      connections.map((connection) => [...cellsOf(connection), endButton(connection)]),
    )
  const endButton = (connection: ConnectionJson): Cell =>
    connection.state === 'live' || connection.state === 'waiting'
      ? button(say.end, () => end(connection), { 'aria-label': say.endOf(connection.app) })
      : ''
  void load()
  return element(
    'section',
    {},
    element('h2', { id: 'connections' }, say.connections),
    element('p', {}, say.connectionsText),
    status.line,
    place,
  )
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
