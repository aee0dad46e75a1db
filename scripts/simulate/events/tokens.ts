import { challengeOf } from '../../../test/support/mcp/signing-in.js'
import { shownAnswer, tokenIn } from '../world.js'
import type { Agent, World } from '../world.js'
import { mailedCode } from './ordering.js'
import { settle } from './reading.js'
import { address, failure, jsonOf } from './selling.js'

const redirectUri = 'https://agent.example/callback'
const verifier = 'a-verifier-of-the-simulation-with-43-characters'
const accessMs = 3_600_000
const mcpRows = 5

/** The owner gives a subscriber a new token; the old ones work on for a while. */
export async function reissue(world: World): Promise<string> {
  const id = world.oneOf(world.books().subscriptions.keys())
  if (id === undefined) return 'nothing was sold'
  const grace = world.random.oneOf(['0s', '1h', '24h'])
  const done = await world.house.das(['token', 'reissue', id, '--grace', grace, '--json'])
  const words = `${world.nameOf(id)} grace ${grace}`
  if (done.code !== 0) return `${words} → ${failure(world, done)}`
  world.tokens.push({ subscription: id, secret: String(jsonOf(done)['token']) })
  return `${words} → a new token`
}

/** The owner ends one token. */
export async function revoke(world: World): Promise<string> {
  const [id, token] = world.oneOf(world.books().tokens) ?? []
  if (id === undefined || !token) return 'nothing was sold'
  const done = await world.house.das(['token', 'revoke', id])
  const words = `a token of ${world.nameOf(token.subscription)}`
  return `${words} → ${done.code === 0 ? 'revoked' : failure(world, done)}`
}

/** A subscriber lost the token: a mailed code gives another. */
export async function loseToken(world: World): Promise<string> {
  const email = address(world)
  const asked = await world.postForm('/lost-token', [['email', email]])
  if (asked.status !== 200) return `${email} → ${asked.status}`
  const typed = await mailedCode(world, asked.text, email)
  const shown = await world.postForm('/lost-token/code', typed)
  const ids = new Set(shown.text.match(/sub_[0-9A-Za-z]{16}/g) ?? [])
  const id = world.oneOf(ids)
  if (shown.status !== 200 || id === undefined) return `${email} → ${shown.status}, none`
  const earlier = world.random.oneOf([[], [['earlier', 'end'] as const]])
  const fields = [...typed, ['subscription', id] as const, ...earlier]
  const done = await world.postForm('/lost-token/reissue', fields)
  const secret = tokenIn(done.text)
  if (secret !== null) world.adopt(secret)
  return `${email} ${world.nameOf(id)} → ${done.status}${secret === null ? '' : ', a new token'}`
}

/** An agent signs in with a subscriber's token, by OAuth. */
export async function connect(world: World): Promise<string> {
  const token = world.oneOf(world.tokens)
  if (!token) return 'nobody has a token'
  const name = world.nameOf(token.subscription)
  const registered = await world.get('/register', undefined, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Agent', redirect_uris: [redirectUri] }),
  })
  const clientId = String(registered.body['client_id'])
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    resource: 'https://data.example.org/mcp',
  })
  const consent = await world.postForm(`/authorize?${query.toString()}`, [
    ['token', token.secret],
    ['answer', 'connect'],
  ])
  const location = String(consent.headers['location'] ?? '')
  const code = URL.canParse(location) ? new URL(location).searchParams.get('code') : null
  if (code === null) return `${name} → consent ${consent.status}`
  const redeemed = await world.postForm('/token', [
    ['grant_type', 'authorization_code'],
    ['client_id', clientId],
    ['code', code],
    ['code_verifier', verifier],
    ['redirect_uri', redirectUri],
  ])
  if (redeemed.status !== 200) return `${name} → ${shownAnswer(redeemed)}`
  world.agents.push({
    subscription: token.subscription,
    token,
    clientId,
    access: String(redeemed.body['access_token']),
    refresh: String(redeemed.body['refresh_token']),
    accessUntil: world.now + accessMs,
  })
  return `${name} → connected`
}

/** An agent asks for rows; before, it renews an access that has ended. */
export async function askAsAgent(world: World): Promise<string> {
  const agent = world.oneOf(world.agents)
  if (!agent) return 'no agent'
  const name = world.nameOf(agent.subscription)
  if (world.now >= agent.accessUntil) {
    const renewed = await renew(world, agent)
    if (renewed !== 200) return `${name} → renewal ${renewed}`
  }
  return `${name} → ${await query(world, agent.subscription, agent.access)}`
}

/** A subscriber's own MCP client, with the token. */
export async function askByMcp(world: World): Promise<string> {
  const token = world.oneOf(world.tokens)
  if (!token) return 'nobody has a token'
  const words = await query(world, token.subscription, token.secret)
  return `${world.nameOf(token.subscription)} → ${words}`
}

async function renew(world: World, agent: Agent): Promise<number> {
  const { status, body } = await world.postForm('/token', [
    ['grant_type', 'refresh_token'],
    ['client_id', agent.clientId],
    ['refresh_token', agent.refresh],
  ])
  if (status === 200) {
    agent.access = String(body['access_token'])
    agent.refresh = String(body['refresh_token'])
    agent.accessUntil = world.now + accessMs
  } else if (status < 500) {
    world.agents.splice(world.agents.indexOf(agent), 1)
  }
  return status
}

async function query(world: World, subscription: string, secret: string): Promise<string> {
  const granted = world.books().subscriptions.get(subscription)?.grants ?? new Map<string, string>()
  const dataset = world.oneOf(granted.keys()) ?? 'companies'
  world.ledger.risk(subscription, dataset, mcpRows)
  const answer = await world.get('/mcp', secret, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'query', arguments: { resource: dataset, limit: mcpRows } },
    }),
  })
  const result = (answer.body['result'] ?? {}) as Readonly<Record<string, unknown>>
  const content = (result['structuredContent'] ?? {}) as Readonly<Record<string, unknown>>
  const rows = Number(content['row_count'] ?? 0)
  const isOpen = result['isError'] === true && /unavailable|internal/.test(answer.text)
  if (answer.status === 200 && !isOpen) {
    world.ledger.deliver(subscription, dataset, rows, mcpRows)
  } else {
    settle(world, { subscription }, dataset, mcpRows, isOpen ? { ...answer, status: 503 } : answer)
  }
  const outcome = result['isError'] === true ? 'refused' : `${rows} rows`
  return `${dataset} ${answer.status === 200 ? outcome : shownAnswer(answer)}`
}
