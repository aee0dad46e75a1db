import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { FaultCase, Site } from './site.js'

const holdMs = 3000
const sockets = 150
const partMs = 100

/** Each sends its request letter by letter, or takes nothing of a long answer. */
function slowSocket({ server, fixture }: Site, isReader: boolean): Socket {
  const { hostname, port } = new URL(server.base)
  const socket = connect(Number(port), hostname).on('error', () => undefined)
  const head =
    'GET /v1/plain/export HTTP/1.1\r\nHost: test\r\n' +
    `Authorization: Bearer ${fixture.other.token}\r\n\r\n`
  if (isReader) {
    socket.pause()
    socket.write(head)
    return socket
  }
  let at = 0
  const timer = setInterval(() => {
    socket.write(head.charAt(at))
    at += 1
  }, partMs)
  return socket.once('close', () => clearInterval(timer))
}

/** Other clients misbehave. */
export const clientFaults: readonly FaultCase[] = [
  {
    name: 'slow clients',
    about: `${sockets} connections send their requests letter by letter or read nothing for ${holdMs / 1000} s`,
    strike: async (site) => {
      const all = Array.from({ length: sockets }, (_, at) => slowSocket(site, at % 10 === 0))
      await site.wait(holdMs)
      for (const socket of all) socket.destroy()
    },
  },
]
