import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import {
  liveSecretsMax,
  raceMs,
  refreshLifeMs,
} from '../../../src/control/connections/exchange-secrets.js'
import { connectionState, listConnections } from '../../../src/control/connections/connections.js'
import { connectionsMax, makeConnection } from '../../../src/control/connections/make-connection.js'
import { removeConnections } from '../../../src/control/connections/remove-connections.js'
import { cancelSubscription } from '../../../src/control/subscription-changes.js'
import { createSecret, hashToken } from '../../../src/control/tokens/token-format.js'
import { reissueToken, revokeToken } from '../../../src/control/tokens/tokens.js'
import { damageTable } from '../../control/fixtures/store.js'
import { isError } from '../../support/answers.js'
import { openControl, openControlFile } from '../../support/control.js'
import { sqliteOnly } from '../../support/database.js'
import { callTool, postMcp } from '../../support/mcp/mcp-messages.js'
import {
  authorizePath,
  codeFor,
  issuer,
  postForm,
  redeem,
  refresh,
  register,
  secretsOf,
  sendForm,
  signIn,
} from '../../support/sign-in.js'
import { demoToken, startThings } from '../../support/things.js'
import type { Answer, World } from '../../support/world.js'
import { sql } from '../../../src/control/store/sql.js'
import { machineRandom } from '../../../src/random.js'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

async function statusWith(world: World, access: string): Promise<number> {
  return (await postMcp(world, access, listing)).status
}

/** A world in which one agent has signed in. */
async function startSignedIn(t: Test, plan = 'things:pro', months = 12) {
  const world = await startThings(t)
  const control = openControl(t, world)
  const subscription = await world.subscribe([plan], { months })
  const clientId = await register(world)
  const secrets = await signIn(world, clientId, subscription.token)
  return { world, control, clientId, secrets, ...subscription }
}

function isRefused(t: Test, answer: Answer, error: string, name: string = error): void {
  t.match({ status: answer.status, ...answer.body }, { error, error_description: /\w/ }, name)
  t.equal(answer.status, error === 'invalid_client' ? 401 : 400, name)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.notMatch(answer.text, /das_\w+_\w{20}/)
}

await t.test('a code becomes an hour of access and a refresh token', async (t) => {
  const world = await startThings(t)
  const { token, subscriptionId } = await world.subscribe(['things:pro'], { months: 12 })
  const clientId = await register(world)
  const answer = await redeem(world, clientId, await codeFor(world, clientId, token))
  t.equal(answer.status, 200)
  t.match(answer.body, {
    access_token: /^das_agent_\w{49}$/,
    refresh_token: /^das_renew_\w{49}$/,
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'datasets:read',
  })
  t.match(answer.headers, { 'cache-control': 'no-store', 'access-control-allow-origin': '*' })
  const { access } = secretsOf(answer)
  const result = await callTool(world, access, 'query', { resource: 'things', limit: 2 })
  t.match(result, { content: { row_count: 2 } })
  const line = world.log.filter((each) => each.includes('"tool":"query"')).at(-1)
  t.match(JSON.parse(line ?? '{}'), { subscription: subscriptionId, connectionId: /^con_/ })
  t.notMatch(world.log.join(''), /das_(live|agent|renew|code)_\w{20}/)
})

// Guarantee: an agent's access token is for MCP alone, and its other secrets are for nothing else.
await t.test('REST refuses an access token, and MCP the other secrets', async (t) => {
  const { world, secrets, clientId, token } = await startSignedIn(t)
  for (const path of ['/v1/', '/v1/things', '/v1/account', '/v1/things/export']) {
    isError(t, await world.get(path, secrets.access), 'unauthorized')
  }
  t.equal(await statusWith(world, secrets.access), 200)
  t.equal(await statusWith(world, secrets.refresh), 401)
  t.equal(await statusWith(world, await codeFor(world, clientId, token)), 401)
  t.equal(await statusWith(world, createSecret(machineRandom, 'agent').secret), 401)
  const form = { token: secrets.access, answer: 'connect' }
  t.equal((await sendForm(world, authorizePath(clientId), form)).status, 400, 'nor the page')
  isError(t, await world.get(`/v1/?a=${secrets.access}`), 'bad_request', /does not belong in a URL/)
})

// Guarantee: a stolen code is worth nothing without the verifier, the client and the redirect.
await t.test('a code is bound to its client, its redirect and its verifier', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  const clientId = await register(world)
  const other = await register(world, { redirect_uris: ['https://other.example/'] })
  const code = await codeFor(world, clientId, token)
  isRefused(
    t,
    await redeem(world, clientId, code, { code_verifier: 'b'.repeat(43) }),
    'invalid_grant',
  )
  isRefused(t, await redeem(world, clientId, code, { code_verifier: 'short' }), 'invalid_request')
  isRefused(t, await redeem(world, clientId, code, { code_verifier: '' }), 'invalid_request')
  isRefused(t, await redeem(world, other, code), 'invalid_grant')
  isRefused(t, await redeem(world, 'dac_x.y', code), 'invalid_client')
  isRefused(t, await redeem(world, '', code), 'invalid_request')
  const redirect = { redirect_uri: 'https://other.example/' }
  isRefused(t, await redeem(world, clientId, code, redirect), 'invalid_grant')
  const resource = { resource: 'https://other.example/mcp' }
  isRefused(t, await redeem(world, clientId, code, resource), 'invalid_target')
  isRefused(
    t,
    await redeem(world, clientId, code, { grant_type: 'password' }),
    'unsupported_grant_type',
  )
  const twice = new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId })
  twice.append('client_id', other)
  isRefused(t, await postForm(world, '/token', twice), 'invalid_request')
  const right = await redeem(world, clientId, code, { redirect_uri: '', resource: `${issuer}/mcp` })
  t.equal(right.status, 200, 'OAuth 2.1 sends no redirect_uri here')
})

await t.test('a code ends after two minutes, and a second use ends its connection', async (t) => {
  const { world, control, clientId, token, subscriptionId } = await startSignedIn(t)
  const late = await codeFor(world, clientId, token)
  world.clock.ms += 2 * minuteMs
  isRefused(t, await redeem(world, clientId, late), 'invalid_grant')
  const code = await codeFor(world, clientId, token)
  const { access, refresh: renew } = secretsOf(await redeem(world, clientId, code))
  t.equal(await statusWith(world, access), 200)
  isRefused(t, await redeem(world, clientId, code), 'invalid_grant')
  t.equal(await statusWith(world, access), 401)
  isRefused(t, await refresh(world, clientId, renew), 'invalid_grant')
  t.same(
    (await listConnections(control, subscriptionId))
      .map((each) => connectionState(each, world.clock.ms))
      .sort(),
    ['live', 'replayed', 'waiting'],
  )
  t.match(await control.all(sql`SELECT action FROM audit WHERE action LIKE 'connection.%'`), [
    { action: 'connection.made' },
    { action: 'connection.made' },
    { action: 'connection.ended' },
  ])
})

await t.test('the hour ends the access token, a refresh gives another', async (t) => {
  const { world, clientId, secrets } = await startSignedIn(t)
  world.clock.ms += hourMs - 1
  t.equal(await statusWith(world, secrets.access), 200)
  world.clock.ms += 1
  t.equal(await statusWith(world, secrets.access), 401)
  const next = secretsOf(await refresh(world, clientId, secrets.refresh))
  t.equal(await statusWith(world, next.access), 200)
  world.clock.ms += refreshLifeMs - 1
  const later = secretsOf(await refresh(world, clientId, next.refresh))
  t.equal(await statusWith(world, later.access), 200, 'each refresh extends the 60 days')
  world.clock.ms += refreshLifeMs
  isRefused(t, await refresh(world, clientId, later.refresh), 'invalid_grant')
})

// Guarantee: lost answers and processes that refresh together strand nobody.
await t.test('a used refresh token is accepted until a successor is used', async (t) => {
  const { world, clientId, secrets } = await startSignedIn(t)
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => refresh(world, clientId, secrets.refresh)),
  )
  for (const answer of answers) t.equal(await statusWith(world, secretsOf(answer).access), 200)
  world.clock.ms += 10 * dayMs
  const again = await refresh(world, clientId, secrets.refresh)
  t.equal(again.status, 200, 'no successor was used: the answers were lost')
  const successor = secretsOf(again)
  t.equal((await refresh(world, clientId, successor.refresh)).status, 200)
  world.clock.ms += raceMs
  const other = await register(world, { redirect_uris: ['https://other.example/'] })
  isRefused(t, await refresh(world, other, secrets.refresh), 'invalid_grant')
})

// Guarantee: of two who have a refresh token, one of them a thief, neither keeps the connection.
await t.test('a used refresh token ends the connection once a successor was used', async (t) => {
  const { world, control, clientId, secrets, subscriptionId } = await startSignedIn(t)
  const second = secretsOf(await refresh(world, clientId, secrets.refresh))
  const third = secretsOf(await refresh(world, clientId, second.refresh))
  world.clock.ms += raceMs
  t.equal((await refresh(world, clientId, secrets.refresh)).status, 200, 'within two minutes')
  world.clock.ms += 1
  t.equal(await statusWith(world, third.access), 200)
  isRefused(t, await refresh(world, clientId, secrets.refresh), 'invalid_grant')
  t.equal(await statusWith(world, third.access), 401)
  isRefused(t, await refresh(world, clientId, third.refresh), 'invalid_grant')
  t.match(await listConnections(control, subscriptionId), [{ endReason: 'replayed' }])
})

await t.test('a connection has twenty unused secrets at most', async (t) => {
  const { world, control, clientId, secrets } = await startSignedIn(t)
  for (let each = 0; each < 30; each += 1) {
    const made = secretsOf(await refresh(world, clientId, secrets.refresh))
    t.equal(await statusWith(world, made.access), 200)
  }
  const [count] = await control.all<{ n: number }>(
    sql`SELECT count(*) AS n FROM connection_secrets WHERE used_at IS NULL`,
  )
  t.equal(count?.n, liveSecretsMax)
})

await t.test('an agent disconnects with either secret; the answer is always 200', async (t) => {
  for (const which of ['access', 'refresh'] as const) {
    const { world, control, clientId, secrets, subscriptionId } = await startSignedIn(t)
    const other = await register(world, { redirect_uris: ['https://other.example/'] })
    const foreign = { token: secrets[which], client_id: other }
    t.equal((await postForm(world, '/revoke', foreign)).status, 200)
    t.equal(await statusWith(world, secrets.access), 200, 'another client ends nothing')
    for (const token of [secrets[which], secrets[which], 'nonsense', demoToken]) {
      t.equal((await postForm(world, '/revoke', { token, client_id: clientId })).status, 200)
    }
    t.equal(await statusWith(world, secrets.access), 401)
    t.match(await listConnections(control, subscriptionId), [{ endReason: 'disconnected' }])
    isRefused(t, await postForm(world, '/revoke', {}), 'invalid_request')
  }
})

// Guarantee: a token that leaked leaves no connection behind.
await t.test(
  'connections end with the token that made them, and with the subscription',
  async (t) => {
    const ends: readonly (readonly [
      string,
      (at: Awaited<ReturnType<typeof startSignedIn>>) => Promise<void>,
    ])[] = [
      [
        'revoked',
        async ({ control, tokenId, world }) => {
          await revokeToken(control, tokenId, () => world.clock.ms)
        },
      ],
      [
        'cancelled',
        async ({ control, subscriptionId, world }) => {
          await cancelSubscription(control, subscriptionId, () => world.clock.ms)
        },
      ],
      [
        'expired',
        async ({ world }) => {
          world.clock.ms += 366 * dayMs
        },
      ],
      [
        'reissued',
        async ({ control, subscriptionId, world }) => {
          await reissueToken(control, subscriptionId, { graceMs: 0, now: () => world.clock.ms })
        },
      ],
    ]
    for (const [name, end] of ends) {
      const signedIn = await startSignedIn(t)
      const { world, clientId } = signedIn
      world.clock.ms += hourMs / 2
      const code = await codeFor(world, clientId, signedIn.token)
      await end(signedIn)
      t.equal(await statusWith(world, signedIn.secrets.access), 401, name)
      isRefused(t, await refresh(world, clientId, signedIn.secrets.refresh), 'invalid_grant', name)
      isRefused(t, await redeem(world, clientId, code), 'invalid_grant', name)
    }
  },
)

await t.test('a reissue keeps connections only when it is asked to', async (t) => {
  const signedIn = await startSignedIn(t)
  const { world, control, clientId, secrets, subscriptionId } = signedIn
  const options = { graceMs: hourMs, now: () => world.clock.ms, keepsConnections: true }
  t.equal((await reissueToken(control, subscriptionId, options)).keptConnections, 1)
  world.clock.ms += hourMs
  const next = secretsOf(await refresh(world, clientId, secrets.refresh))
  t.equal(await statusWith(world, next.access), 200)
  const plain = { graceMs: hourMs / 2, now: () => world.clock.ms }
  t.equal((await reissueToken(control, subscriptionId, plain)).keptConnections, 0)
  const answer = await refresh(world, clientId, next.refresh)
  t.match(answer.body, { expires_in: 1800 }, 'no longer than the token')
  world.clock.ms += hourMs / 2
  t.equal(await statusWith(world, secretsOf(answer).access), 401)
})

await t.test('an extended subscription keeps its connections', async (t) => {
  const { world, control, clientId, secrets, subscriptionId } = await startSignedIn(
    t,
    'things:pro',
    1,
  )
  world.clock.ms += 29 * dayMs
  await control.run(
    sql`UPDATE subscriptions SET expires_at = ${world.clock.ms + 90 * dayMs} WHERE id = ${subscriptionId}`,
  )
  world.clock.ms += 20 * dayMs
  t.equal((await refresh(world, clientId, secrets.refresh)).status, 200)
})

await t.test(
  'a connection has the rate, the quota and the grants of its subscription',
  async (t) => {
    const { world, secrets, token } = await startSignedIn(t, 'things:tiny')
    const call = { resource: 'things', limit: 5 }
    t.match(await callTool(world, secrets.access, 'query', call), {
      content: { row_count: 5 },
    })
    const { body } = await world.get('/v1/account', token)
    t.match(body['datasets'], [{ name: 'things', rows: { used: 5 } }])
    t.match(await callTool(world, secrets.access, 'query', call), {
      content: { row_count: 2, quota: { rows_remaining: 0 } },
    })
    const slow = await startSignedIn(t, 'things:slow')
    for (let each = 0; each < 5; each += 1) await slow.world.get('/v1/', slow.token)
    const answer = await postMcp(
      slow.world,
      slow.secrets.access,
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_resources', arguments: {} },
      }),
    )
    t.equal(answer.status, 429, 'both draw on one budget')
  },
)

await t.test('the demo token connects; its connection ends with the demo', async (t) => {
  const { world, control, clientId } = await startSignedIn(t)
  const secrets = await signIn(world, clientId, demoToken)
  t.match(await callTool(world, secrets.access, 'query', { resource: 'things', limit: 50 }), {
    content: { row_count: 6 },
  })
  t.equal((await control.all(sql`SELECT 1 FROM audit WHERE action = 'connection.made'`)).length, 1)
  await control.run(
    sql`UPDATE connections SET demo_hash = ${hashToken('das_demo_earlier')} WHERE demo_hash IS NOT NULL`,
  )
  t.equal(await statusWith(world, secrets.access), 401)
  isRefused(t, await refresh(world, clientId, secrets.refresh), 'invalid_grant')
})

// Guarantee: a damaged file never makes an agent give up its connection.
await t.test(
  'over a damaged control.db the answer is 503, never invalid_grant',
  sqliteOnly('damage'),
  async (t) => {
    const { world, clientId, secrets } = await startSignedIn(t)
    damageTable(join(world.folder, 'var', 'control.db'), 'connection_secrets')
    const refreshed = await refresh(world, clientId, secrets.refresh)
    t.match(
      { status: refreshed.status, ...refreshed.body },
      { status: 503, error: 'temporarily_unavailable' },
    )
    t.match(refreshed.headers['retry-after'], /^\d+$/)
    isError(t, await postMcp(world, secrets.access, listing), 'service_unavailable')
  },
)

await t.test('a request waits for the lock of a command', sqliteOnly('lock'), async (t) => {
  const { world, clientId, secrets } = await startSignedIn(t)
  const control = openControlFile(t, world)
  control.file.db.exec('BEGIN IMMEDIATE')
  const refreshed = refresh(world, clientId, secrets.refresh)
  await setImmediate()
  control.file.db.exec('ROLLBACK')
  t.equal((await refreshed).status, 200)
})

await t.test('what is over is removed; what lives stays', async (t) => {
  const { world, control, clientId, secrets, token, subscriptionId } = await startSignedIn(t)
  await codeFor(world, clientId, token)
  const states = async () =>
    (await listConnections(control, subscriptionId))
      .map((each) => connectionState(each, world.clock.ms))
      .sort()
  world.clock.ms += 10 * minuteMs
  t.equal(await removeConnections(control, world.clock.ms), 0)
  t.same(await states(), ['live', 'waiting'])
  world.clock.ms += 2 * minuteMs + 1
  await removeConnections(control, world.clock.ms)
  t.same(await states(), ['live'])
  world.clock.ms += 2 * hourMs
  await removeConnections(control, world.clock.ms)
  t.equal((await control.all(sql`SELECT 1 FROM connection_secrets`)).length, 1, 'the refresh token')
  t.equal((await refresh(world, clientId, secrets.refresh)).status, 200)
  world.clock.ms += refreshLifeMs
  t.same(await states(), ['idle'])
  world.clock.ms += hourMs
  await removeConnections(control, world.clock.ms)
  t.same(await states(), [])
  t.equal((await control.all(sql`SELECT 1 FROM connection_secrets`)).length, 0)
})

await t.test(
  'one more than a hundred connections ends the one that was idle longest',
  async (t) => {
    const { world, control, clientId, token, subscriptionId, secrets } = await startSignedIn(t)
    world.clock.ms += 1
    const [first] = await listConnections(control, subscriptionId)
    for (let each = 1; each < connectionsMax.subscription; each += 1) {
      await makeConnection(control, {
        owner: { subscriptionId, tokenId: first?.tokenId ?? '' },
        clientId,
        clientName: 'Agent',
        redirectUri: 'https://agent.example/callback',
        codeChallenge: 'a'.repeat(43),
        now: world.clock.ms,
      })
    }
    t.equal(await statusWith(world, secrets.access), 200)
    await codeFor(world, clientId, token)
    t.equal(await statusWith(world, secrets.access), 401)
    t.match((await listConnections(control, subscriptionId))[0], { endReason: 'displaced' })
  },
)
