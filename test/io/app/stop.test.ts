import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listen, requestText } from '../../support/answers.js'
import { startThings } from '../../support/things.js'

await t.test('a connection that was accepted last gets its answer, and is closed', async (t) => {
  const world = await startThings(t)
  const port = await listen(world)
  const accepted = once(world.app.server.server, 'connection')
  const socket = connect({ host: '127.0.0.1', port }).setEncoding('utf8')
  await accepted
  const stopped = world.app.close()
  while (world.app.server.server.listening) await sleep(1)
  socket.write(requestText('GET /healthz', {}))
  const [answer] = (await once(socket, 'data')) as [string]
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(answer, /^connection: close\r$/im)
  await stopped
})

await t.test('a draining server answers and sends its clients elsewhere', async (t) => {
  const world = await startThings(t)
  t.equal((await world.get('/readyz')).status, 200)
  const drained = world.app.drain(500)
  const ready = await world.get('/readyz')
  t.equal(ready.status, 503)
  const answer = await world.get('/healthz')
  t.match(answer, { status: 200, headers: { connection: 'close' } })
  await drained
})
