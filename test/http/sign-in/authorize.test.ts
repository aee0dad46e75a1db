import t from 'tap'
import type { Test } from 'tap'
import { registrations } from '../../sales/agents/fixtures/registrations.js'
import { openControl } from '../../support/control.js'
import { withoutSignIn } from '../../support/mcp/mcp-scenario.js'
import {
  authorizePath,
  issuer,
  postForm,
  redirectUri,
  register,
  returnOf,
  sendForm,
} from '../../support/sign-in.js'
import { demoToken, startThings } from '../../support/things.js'
import type { World } from '../../support/world.js'
import { createToken } from '../../../src/control/tokens/token-format.js'
import { sql } from '../../../src/control/store/sql.js'
import { machineRandom } from '../../../src/random.js'

const html = { accept: 'text/html' }

await t.test('the metadata leads from the MCP address to every endpoint', async (t) => {
  const world = await startThings(t, { publicUrl: 'https://Data.example.org:443/' })
  const issuer = 'https://data.example.org'
  const refused = await world.post('/mcp/', '', {})
  t.match(
    refused.headers['www-authenticate'],
    `scope="datasets:read", resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp/"`,
  )
  for (const [path, resource] of [
    ['', '/mcp'],
    ['/mcp', '/mcp'],
    ['/mcp/', '/mcp/'],
  ]) {
    const { status, body, headers } = await world.get(
      `/.well-known/oauth-protected-resource${path}`,
    )
    t.match(
      { status, ...body },
      {
        status: 200,
        resource: `${issuer}${resource}`,
        authorization_servers: [issuer],
        scopes_supported: ['datasets:read'],
      },
    )
    t.equal(headers['access-control-allow-origin'], '*')
  }
  const { body } = await world.get('/.well-known/oauth-authorization-server')
  t.match(body, {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    scopes_supported: ['datasets:read', 'offline_access'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  })
  t.equal((await world.get('/.well-known/oauth-authorization-server/mcp')).status, 404)
  const preflight = await world.get('/token', undefined, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  })
  t.equal(preflight.status, 204)
  t.match(preflight.headers['access-control-allow-headers'], /MCP-Protocol-Version/)
  const wrong = await world.get('/token')
  t.match({ status: wrong.status, allow: wrong.headers['allow'] }, { status: 405, allow: /POST/ })
})

await t.test(
  'documents of clients can be switched off in the settings and in the metadata',
  async (t) => {
    const world = await startThings(t, { clientDocuments: 'off' })
    const { body } = await world.get('/.well-known/oauth-authorization-server')
    t.equal(body['client_id_metadata_document_supported'], undefined)
    const path = authorizePath('https://agent.example/client.json')
    const answer = await world.get(path, undefined, { headers: html })
    t.equal(answer.status, 400)
    t.match(answer.text, /This client_id is unknown/)
  },
)

await t.test(
  'without TLS, or under a foreign host name, the sign-in is off and the log has the reason',
  async (t) => {
    const world = await startThings(t, withoutSignIn)
    for (const path of ['/authorize', '/token', '/revoke']) {
      t.equal((await world.get(path, undefined, { method: 'POST' })).status, 404, path)
    }
    t.match(world.log.join(''), /they cannot sign in/)
    const local = await startThings(t)
    const foreign = { host: 'rebound.example' }
    for (const path of ['/.well-known/oauth-authorization-server', '/authorize']) {
      t.equal((await local.get(path, undefined, { headers: foreign })).status, 404, path)
    }
    t.notMatch(local.log.join(''), /they cannot sign in/)
  },
)

await t.test('each known client reaches the page, which names who gets the access', async (t) => {
  const world = await startThings(t)
  const receivers: Readonly<Record<string, RegExp>> = {
    Claude: /<strong>claude\.ai<\/strong>/,
    ChatGPT: /<strong>chatgpt\.com<\/strong>/,
    Cursor: /opens cursor:\/\/ links<\/strong>[\s\S]+only if you have just started/,
  }
  for (const { client, body, redirectUri } of registrations) {
    const clientId = await register(world, body)
    const path = authorizePath(clientId, { redirect_uri: redirectUri, resource: '' })
    const { status, text } = await world.get(path)
    t.equal(status, 200, client)
    t.match(text, `“${String(body['client_name'])}” asks to read`, client)
    const computer = /an app on this computer<\/strong>[\s\S]+only if you have just started/
    t.match(text, receivers[client] ?? computer, client)
  }
})

// Guarantees: no framing, no script, no referrer to other sites, but an Origin with the form; the
// redirect after the form is not stopped by a policy.
await t.test('the page has the headers that its form needs, and no script', async (t) => {
  const world = await startThings(t)
  const { headers, text } = await world.get(authorizePath(await register(world)))
  t.equal(
    headers['content-security-policy'],
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; " +
      "frame-ancestors 'none'",
  )
  t.match(headers, {
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  })
  t.equal(headers['cross-origin-opener-policy'], undefined)
  t.equal(headers['set-cookie'], undefined)
  t.notMatch(text, /<script|form-action/)
  const russian = await world.get(`${authorizePath(await register(world))}&lang=ru`)
  t.match(russian.text, /Подключение агента/)
  t.match(russian.text, /href="\?response_type=code[^"]+lang=en"/, 'the other language keeps it')
})

// Guarantee: only Connect and Cancel leave this site, and only to a registered address.
await t.test('a wrong request gets a page, never a redirect', async (t) => {
  const world = await startThings(t)
  const clientId = await register(world)
  const wrong: readonly Readonly<Record<string, string>>[] = [
    { client_id: '' },
    { client_id: 'dac_forged.signature' },
    { redirect_uri: '' },
    { redirect_uri: 'https://evil.example/callback' },
    { redirect_uri: `${redirectUri}/more` },
    { redirect_uri: 'javascript:alert(1)' },
    { response_type: 'token' },
    { response_type: '' },
    { response_mode: 'fragment' },
    { code_challenge: '' },
    { code_challenge: 'short' },
    { code_challenge_method: '' },
    { code_challenge_method: 'plain' },
    { resource: 'https://other.example/mcp' },
    { resource: `${issuer}/v1` },
    { state: 'a'.repeat(9000) },
  ]
  const { token } = await world.subscribe(['things:pro'])
  for (const change of wrong) {
    const path = authorizePath(clientId, change)
    for (const answer of [
      await world.get(path),
      await sendForm(world, path, { token, answer: 'connect' }),
      await sendForm(world, path, { answer: 'cancel' }),
    ]) {
      const name = JSON.stringify(change).slice(0, 60)
      t.equal(answer.status, 400, name)
      t.equal(answer.headers['location'], undefined, name)
      t.match(answer.text, /can’t be connected/, name)
    }
  }
  const twice = `${authorizePath(clientId)}&redirect_uri=https://evil.example/`
  t.equal((await world.get(twice)).status, 400)
  t.equal(await connectionsOf(t, world), 0)
})

await t.test(
  'the resource may be either form of the MCP address, the origin, or missing',
  async (t) => {
    const world = await startThings(t)
    const clientId = await register(world)
    for (const resource of ['', issuer, `${issuer}/`, `${issuer}/mcp`, `HTTP://LOCALHOST/mcp/`]) {
      t.equal((await world.get(authorizePath(clientId, { resource }))).status, 200, resource)
    }
    const unknown = authorizePath(clientId, { scope: 'openid email profile' })
    t.equal((await world.get(unknown)).status, 200, 'unknown scopes are dropped')
  },
)

await t.test('Connect sends the person back with a code, Cancel with access_denied', async (t) => {
  const world = await startThings(t)
  const path = authorizePath(await register(world))
  const { token } = await world.subscribe(['things:pro'])
  const connected = await sendForm(world, path, { token: ` ${token}\n`, answer: 'connect' })
  t.equal(connected.status, 303, 'the browser does not repeat the form, and the token in it')
  t.match(connected.headers['location'], `${redirectUri}?code=das_code_`)
  t.match(Object.fromEntries(returnOf(connected)), { state: 'the state', iss: issuer })
  const cancelled = await sendForm(world, path, { token: '', answer: 'cancel' })
  t.equal(cancelled.status, 303)
  t.same(Object.fromEntries(returnOf(cancelled)), {
    error: 'access_denied',
    state: 'the state',
    iss: issuer,
  })
  t.equal(await connectionsOf(t, world), 1)
  t.notMatch(world.log.join(''), /das_(live|code)_\w{20}/, 'neither token nor code in the log')
})

// Guarantee: no other site can send the form.
await t.test('a form from another page is refused', async (t) => {
  const world = await startThings(t)
  const path = authorizePath(await register(world))
  const { token } = await world.subscribe(['things:pro'])
  const fields = { token, answer: 'connect' }
  for (const headers of [
    { 'sec-fetch-site': 'cross-site', origin: issuer },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    {},
  ]) {
    const answer = await sendForm(world, path, fields, headers)
    t.equal(answer.status, 403, JSON.stringify(headers))
    t.equal(answer.headers['location'], undefined)
  }
  t.equal(await connectionsOf(t, world), 0)
  t.equal((await sendForm(world, path, fields, { origin: issuer })).status, 303)
})

// Guarantees: the page tells nothing of a token but that it is wrong; guessing is slow.
await t.test('wrong tokens get one answer, and ten a minute are the most', async (t) => {
  const world = await startThings(t)
  const path = authorizePath(await register(world))
  const { token } = await world.subscribe(['things:pro'], { months: 12 })
  const ended = (await world.subscribe(['things:pro'])).token
  world.clock.ms += 40 * 24 * 3_600_000
  const texts = new Set<string>()
  const wrong = [
    '',
    'x',
    ended,
    createToken(machineRandom).token,
    `${token}x`,
    'das_demo_wrong',
    'Ж',
  ]
  for (const each of [...wrong, ...wrong].slice(0, 10)) {
    const answer = await sendForm(world, path, { token: each, answer: 'connect' })
    t.equal(answer.status, 400, each)
    t.notMatch(answer.text, /das_live_\w{20}/, 'the field is empty again')
    texts.add(answer.text)
  }
  t.equal(texts.size, 1)
  const limited = await sendForm(world, path, { token, answer: 'connect' })
  t.equal(limited.status, 429, 'the right one too')
  t.match(limited.headers['retry-after'], /^\d+$/)
  t.equal(await connectionsOf(t, world), 0)
})

await t.test('wrong tokens at the same time are counted, too', async (t) => {
  const world = await startThings(t)
  const path = authorizePath(await register(world))
  const answers = await Promise.all(
    Array.from({ length: 40 }, () =>
      sendForm(world, path, { token: createToken(machineRandom).token, answer: 'connect' }),
    ),
  )
  t.equal(answers.filter(({ status }) => status === 400).length, 10)
  t.equal(answers.filter(({ status }) => status === 429).length, 30)
})

await t.test('right tokens are not counted as failures; connections an hour are', async (t) => {
  const world = await startThings(t)
  const path = authorizePath(await register(world))
  const { token } = await world.subscribe(['things:pro'])
  for (let each = 0; each < 60; each += 1) {
    t.equal((await sendForm(world, path, { token, answer: 'connect' })).status, 303)
  }
  t.equal((await sendForm(world, path, { token, answer: 'connect' })).status, 429)
  for (let each = 0; each < 20; each += 1) {
    t.equal((await sendForm(world, path, { token: demoToken, answer: 'connect' })).status, 303)
  }
  t.equal((await sendForm(world, path, { token: demoToken, answer: 'connect' })).status, 429)
})

await t.test('a form and a registration have limits of size and of type', async (t) => {
  const world = await startThings(t)
  const path = authorizePath(await register(world))
  const large = await sendForm(world, path, { token: 'a'.repeat(5000), answer: 'connect' })
  t.equal(large.status, 413)
  const body = { redirect_uris: [redirectUri], client_uri: 'a'.repeat(20_000) }
  const answer = await world.post('/register', '', body)
  t.match({ status: answer.status, ...answer.body }, { status: 413, error: 'invalid_request' })
  const json = await world.post('/token', '', {})
  t.match({ status: json.status, ...json.body }, { status: 415, error: 'invalid_request' })
  t.equal((await postForm(world, '/v1/things/query', { a: 'b' })).status, 415)
  const broken = await world.post('/register', '', '{')
  t.match({ status: broken.status, ...broken.body }, { status: 400, error: 'invalid_redirect_uri' })
})

// Guarantee: nothing that a visitor does without a good token is stored.
await t.test('registrations, pages and wrong tokens are not stored', async (t) => {
  const world = await startThings(t)
  const control = openControl(t, world)
  const changes = () => control.all(sql`SELECT count(*) AS n FROM audit`)
  const before = await changes()
  for (let each = 0; each < 50; each += 1) {
    const clientId = await register(world, { redirect_uris: [`${redirectUri}/${each}`] })
    await world.get(authorizePath(clientId, { redirect_uri: `${redirectUri}/${each}` }))
  }
  t.same(await changes(), before)
  t.equal(await connectionsOf(t, world), 0)
})

async function connectionsOf(t: Test, world: World): Promise<number> {
  const control = openControl(t, world)
  return (await control.all(sql`SELECT id FROM connections`)).length
}
