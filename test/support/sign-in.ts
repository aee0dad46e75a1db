import type { InjectOptions } from 'fastify'
import { recordOf } from '../../src/registry/shape.js'
import { challengeOf } from './mcp/signing-in.js'
import type { Answer, World } from './world.js'

const verifier = 'a-verifier-of-the-tests-with-43-characters-or-more'
export const redirectUri = 'https://agent.example/callback'
export const issuer = 'http://localhost'

/** The secrets of one connection. */
export interface Secrets {
  readonly access: string
  readonly refresh: string
}

type Fields = Readonly<Record<string, string>>

/** Posts a form. */
export function postForm(
  world: World,
  url: string,
  fields: Fields | URLSearchParams,
  options: InjectOptions = {},
): Promise<Answer> {
  return world.get(url, undefined, {
    ...options,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...options.headers },
    body: new URLSearchParams(fields).toString(),
  })
}

/** Registers a client; its id. */
export async function register(
  world: World,
  body: unknown = { client_name: 'Agent', redirect_uris: [redirectUri] },
): Promise<string> {
  const answer = await world.get('/register', undefined, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return String(answer.body['client_id'])
}

/** The path of a complete request for access; `change` replaces or adds parameters. */
export function authorizePath(clientId: string, change: Fields = {}): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    state: 'the state',
    scope: 'datasets:read',
    resource: `${issuer}/mcp`,
    ...change,
  })
  for (const [name, value] of Object.entries(change)) if (value === '') query.delete(name)
  return `/authorize?${query.toString()}`
}

/** Sends the page's form as a browser does. */
export function sendForm(
  world: World,
  path: string,
  fields: Fields,
  headers: Fields = { 'sec-fetch-site': 'same-origin' },
): Promise<Answer> {
  return postForm(world, path, fields, { headers })
}

/** The parameters with which the person returns to the agent. */
export function returnOf({ headers }: Answer): URLSearchParams {
  return new URL(String(headers['location'])).searchParams
}

/** A code for this token. */
export async function codeFor(world: World, clientId: string, token: string): Promise<string> {
  const answer = await sendForm(world, authorizePath(clientId), { token, answer: 'connect' })
  return returnOf(answer).get('code') ?? ''
}

/** Asks the token endpoint for a code. */
export function redeem(
  world: World,
  clientId: string,
  code: string,
  change: Fields = {},
): Promise<Answer> {
  return postForm(world, '/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
    ...change,
  })
}

/** Asks the token endpoint with a refresh token. */
export function refresh(world: World, clientId: string, token: string): Promise<Answer> {
  return postForm(world, '/token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: token,
  })
}

/** The secrets in an answer of the token endpoint. */
export function secretsOf(answer: Answer): Secrets {
  const { access_token: access, refresh_token: renew } = recordOf(answer.body)
  return { access: String(access), refresh: String(renew) }
}

/** Signs in; the first secrets. */
export async function signIn(world: World, clientId: string, token: string): Promise<Secrets> {
  return secretsOf(await redeem(world, clientId, await codeFor(world, clientId, token)))
}
