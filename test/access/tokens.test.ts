import t from 'tap'
import { createToken } from '../../src/control/tokens/token-format.js'
import { reissueToken, revokeToken } from '../../src/control/tokens/tokens.js'
import { isError } from '../support/answers.js'
import { openControl } from '../support/control.js'
import { demoToken, startThings } from '../support/things.js'
import type { Answer } from '../support/world.js'
import { sql } from '../../src/control/store/sql.js'
import { machineRandom } from '../../src/random.js'

/** Everything of an answer that a client can compare. */
function visible({ status, headers, text }: Answer): unknown {
  const { 'x-request-id': id, date, ...rest } = headers
  return { status, headers: { ...rest, hasId: typeof id, hasDate: typeof date }, text }
}

// Guarantee: a caller without a valid token does not learn why.
await t.test('missing, malformed, unknown, revoked, expired, cancelled: one 401', async (t) => {
  const world = await startThings(t)
  const control = openControl(t, world)
  const revoked = await world.subscribe(['things:pro'])
  await revokeToken(control, revoked.tokenId, () => world.clock.ms)
  const cancelled = await world.subscribe(['things:pro'])
  await control.run(
    sql`UPDATE subscriptions SET cancelled_at = 1 WHERE id = ${cancelled.subscriptionId}`,
  )
  const reissued = await world.subscribe(['things:pro'])
  await reissueToken(control, reissued.subscriptionId, { graceMs: 0, now: () => world.clock.ms })
  const expired = await world.subscribe(['things:pro'])
  await control.run(
    sql`UPDATE subscriptions SET expires_at = ${world.clock.ms} WHERE id = ${expired.subscriptionId}`,
  )
  const good = (await world.subscribe(['things:pro'])).token
  const swapped = good.slice(0, -1) + (good.endsWith('A') ? 'B' : 'A')
  const authorizations: Readonly<Record<string, string | undefined>> = {
    missing: undefined,
    empty: '',
    'only the scheme': 'Bearer',
    'no scheme': good,
    'another scheme': `Basic ${good}`,
    'a scheme in front': `Token Bearer ${good}`,
    'two tokens': `Bearer ${good}, Bearer ${good}`,
    'a token too many': `Bearer ${good} ${good}`,
    quoted: `Bearer "${good}"`,
    junk: 'Bearer junk',
    'a typing error': `Bearer ${swapped}`,
    'a cut token': `Bearer ${good.slice(0, -1)}`,
    'a long token': `Bearer ${'das_live_'.repeat(2000)}`,
    'wrong case': `Bearer ${good.toUpperCase()}`,
    unknown: `Bearer ${createToken(machineRandom).token}`,
    revoked: `Bearer ${revoked.token}`,
    cancelled: `Bearer ${cancelled.token}`,
    reissued: `Bearer ${reissued.token}`,
    expired: `Bearer ${expired.token}`,
    'a demo typo': `Bearer ${demoToken}s`,
    'a demo token in capitals': `Bearer ${demoToken.toUpperCase()}`,
    'another demo token': 'Bearer das_demo_opendata',
  }
  for (const url of ['/v1/things', '/v1/nothing', '/v1/', '/v1/account', '/v1/things/schema']) {
    const answers = new Map<string, unknown>()
    for (const [name, authorization] of Object.entries(authorizations)) {
      const headers = authorization === undefined ? {} : { authorization }
      const answer = await world.get(url, undefined, {
        headers,
        remoteAddress: `10.0.${Math.floor(answers.size / 9)}.${url.length}`,
      })
      isError(t, answer, 'unauthorized', /Authorization: Bearer <token>/, `${url}: ${name}`)
      answers.set(name, visible(answer))
    }
    for (const [name, answer] of answers) t.same(answer, answers.get('missing'), `${url}: ${name}`)
  }
  t.equal((await world.get('/v1/things', good)).status, 200)
})

await t.test('the scheme is case-insensitive, and one or more spaces follow it', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  for (const authorization of [`bearer ${token}`, `BEARER ${token}`, `Bearer   ${token} `]) {
    const answer = await world.get('/v1/things', undefined, { headers: { authorization } })
    t.equal(answer.status, 200, authorization.slice(0, 10))
  }
  const post = await world.get('/v1/things/query', undefined, {
    method: 'POST',
    headers: { authorization: `bEaReR ${token}`, 'content-type': 'application/json' },
    body: '{}',
  })
  t.equal(post.status, 200)
})

// Guarantee: a subscription ends at its second, whatever is asked of it.
await t.test('a token works to the last millisecond before its end, and not in it', async (t) => {
  const world = await startThings(t)
  const control = openControl(t, world)
  const { token, expiresAt, subscriptionId } = await world.subscribe(['things:pro'], { months: 1 })
  t.equal(new Date(expiresAt).toISOString(), '2026-12-15T12:00:00.000Z')
  world.clock.ms = expiresAt - 1
  t.equal((await world.get('/v1/things', token)).status, 200)
  world.clock.ms = expiresAt
  isError(t, await world.get('/v1/things', token), 'unauthorized')
  world.clock.ms = expiresAt - 1
  t.equal((await world.get('/v1/things', token)).status, 200, 'nothing was ended by asking')
  const { token: next } = await reissueToken(control, subscriptionId, {
    graceMs: 500,
    now: () => expiresAt - 1000,
  })
  world.clock.ms = expiresAt - 501
  t.equal((await world.get('/v1/things', token)).status, 200, 'the old one in its grace')
  world.clock.ms = expiresAt - 500
  isError(t, await world.get('/v1/things', token), 'unauthorized', /./, 'and after it')
  t.equal((await world.get('/v1/things', next)).status, 200)
  world.clock.ms = expiresAt
  isError(t, await world.get('/v1/things', next), 'unauthorized')
})

await t.test('a revocation counts from the next request on', async (t) => {
  const world = await startThings(t)
  const control = openControl(t, world)
  const { token, tokenId } = await world.subscribe(['things:pro'])
  const first = await world.get('/v1/things?limit=1', token)
  await revokeToken(control, tokenId, () => world.clock.ms)
  const cursor = first.body.next_cursor
  isError(t, await world.get(`/v1/things?limit=1&cursor=${cursor}`, token), 'unauthorized')
  const tag = String(first.headers['etag'])
  const known = await world.get('/v1/things?limit=1', token, { headers: { 'if-none-match': tag } })
  isError(t, known, 'unauthorized')
})

await t.test('a token is stored as its hash alone', async (t) => {
  const world = await startThings(t)
  const control = openControl(t, world)
  const { token } = await world.subscribe(['things:pro'])
  const stored = await control.all<{ hash: Buffer }>(sql`SELECT hint, hash FROM tokens`)
  const rows = JSON.stringify(stored.map((row) => ({ ...row, hash: row.hash.toString('latin1') })))
  t.notMatch(rows, token.slice(9, 50))
  t.match(rows, `das_live_…${token.slice(-4)}`)
})
