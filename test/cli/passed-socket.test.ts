import t from 'tap'
import { passedSocket } from '../../src/cli/serve-command.js'

await t.test('a socket is taken from a service manager only', async (t) => {
  t.equal(passedSocket({}, 7), null)
  t.equal(passedSocket({ LISTEN_PID: '7', LISTEN_FDS: '1' }, 7), 3)
  t.equal(passedSocket({ LISTEN_PID: '8', LISTEN_FDS: '1' }, 7), null, 'it is the parent’s')
  for (const LISTEN_FDS of ['2', '', undefined]) {
    const environment = { LISTEN_PID: '7', LISTEN_FDS }
    t.throws(() => passedSocket(environment, 7), { code: 'bad_request', detail: /pass one/ })
  }
})
