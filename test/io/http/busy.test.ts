import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { isError, listen, requestText } from '../../support/answers.js'
import { slowQuestion, startSlow } from '../../support/slow.js'

// Guarantee: one busy subscriber fills idle places and the queue, and still delays no other subscriber.
await t.test(
  'a full queue is 503 for the subscriber that filled it; another is served in turn',
  async (t) => {
    const world = await startSlow(t, 60)
    const busy = (await world.subscribe(['slow:pro'])).token
    const other = (await world.subscribe(['slow:pro'])).token
    const port = await listen(world)
    const body = JSON.stringify(slowQuestion)
    const text = requestText(
      'POST /v1/slow/query',
      {
        Authorization: `Bearer ${busy}`,
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
      },
      body,
    )
    const sockets = Array.from({ length: 300 }, () => {
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('error', () => undefined)
      socket.write(text)
      return socket
    })
    const refusals = () => world.log.filter((line) => line.includes('"status":503')).length
    while (refusals() < 30) await sleep(10)
    const refused = await world.post('/v1/slow/query', busy, slowQuestion)
    isError(t, refused, 'service_unavailable', /[Tt]oo many|busy|wait/)
    t.match(refused.headers['retry-after'], /^[1-9]\d*$/)
    t.equal(refused.headers['x-quota-rows-remaining'], '1000', 'and costs nothing')
    const served = await world.get('/v1/slow?limit=1', other)
    t.equal(served.status, 200, 'the next place was theirs')
    for (const socket of sockets) socket.destroy()
    t.equal(
      (await world.get('/v1/slow?limit=1', busy)).status,
      200,
      'who leaves the queue frees it',
    )
  },
)
