import t from 'tap'
import { openControl } from '../../support/control.js'
import { tablesOf } from '../../support/database.js'
import {
  codeFor,
  postForm,
  redeem,
  refresh,
  register,
  secretsOf,
  signIn,
} from '../../support/sign-in.js'
import { startThings } from '../../support/things.js'
import { sql, sqlText } from '../../../src/control/store/sql.js'
import type { Answer } from '../../support/world.js'

/** What a sign-in may write to. */
const tables = [
  ...['audit', 'connections', 'connection_secrets', 'letters', 'subscribers', 'subscriptions'],
  ...['tokens', 'email_codes', 'orders', 'usage', 'rate_windows'],
]

const succeeded = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200)

// Guarantee: a code is good once, also for requests at the same time: a second party ends the
// connection.
await t.test(
  'of several simultaneous exchanges of a code, one gets secrets, and they end',
  async (t) => {
    const world = await startThings(t)
    const clientId = await register(world)
    const { token } = await world.subscribe(['things:pro'])
    const code = await codeFor(world, clientId, token)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => redeem(world, clientId, code)),
    )
    const [first, ...others] = succeeded(answers)
    t.ok(first)
    t.equal(others.length, 0)
    t.equal(answers.filter(({ body }) => body.error === 'invalid_grant').length, 7)
    const { access, refresh: renew } = first ? secretsOf(first) : { access: '', refresh: '' }
    t.equal((await world.post('/mcp', access, {})).status, 401)
    t.equal((await refresh(world, clientId, renew)).status, 400)
    const ended = await openControl(t, world).all(sql`SELECT end_reason AS reason FROM connections`)
    t.same(ended, [{ reason: 'replayed' }])
  },
)

// Guarantee: nothing that is issued at the moment of an end outlives it.
await t.test('a refresh beside the end of its connection gives no secret that lives', async (t) => {
  const world = await startThings(t)
  const clientId = await register(world)
  const { token } = await world.subscribe(['things:pro'])
  for (let round = 0; round < 5; round += 1) {
    const { refresh: renew } = await signIn(world, clientId, token)
    const around = () => [refresh(world, clientId, renew), refresh(world, clientId, renew)]
    const [revoked, ...answers] = await Promise.all([
      postForm(world, '/revoke', { token: renew }),
      ...around(),
      ...around(),
    ])
    t.equal(revoked.status, 200)
    for (const answer of succeeded(answers)) {
      const issued = secretsOf(answer)
      t.equal((await world.post('/mcp', issued.access, {})).status, 401)
      t.equal((await refresh(world, clientId, issued.refresh)).status, 400)
    }
    t.equal((await refresh(world, clientId, renew)).status, 400)
  }
})

// Guarantee: a copy of the records or of the log lets nobody in.
await t.test('no secret of a sign-in is stored or logged in clear', async (t) => {
  const world = await startThings(t)
  const clientId = await register(world)
  const { token } = await world.subscribe(['things:pro'])
  const { refresh: renew } = await signIn(world, clientId, token)
  const again = await refresh(world, clientId, renew)
  t.equal(again.status, 200)
  t.equal(again.headers['cache-control'], 'no-store')
  await world.post('/mcp', secretsOf(again).access, {})
  const wrong = [`${renew}x`, secretsOf(again).access]
  for (const each of wrong) {
    const { status, text } = await refresh(world, clientId, each)
    t.equal(status, 400)
    t.notMatch(text, /das_\w+_\w{8}/)
  }
  t.match(await world.get(`/authorize?client_id=${clientId}&state=${token}`), { status: 400 })
  const control = openControl(t, world)
  const rows = []
  const made = (await tablesOf(control)).map(({ name }) => name)
  for (const name of made.filter((each) => tables.includes(each))) {
    rows.push(...(await control.all<Record<string, unknown>>(sql`SELECT * FROM ${sqlText(name)}`)))
  }
  const stored = rows.flatMap((row) =>
    Object.values(row).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
    ),
  )
  const secret = /das_(live|agent|renew|code)_[0-9A-Za-z]{8,}/
  t.ok(rows.length > 5)
  t.same(
    stored.filter((value) => secret.test(value)),
    [],
  )
  t.same(
    world.log.filter((line) => secret.test(line)),
    [],
  )
})
