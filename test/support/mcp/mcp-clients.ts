import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

/** What a scenario asks of a client, whichever it is; real clients have these methods as they are. */
export interface McpClient {
  readonly getServerVersion: () => object | undefined
  readonly getInstructions: () => string | undefined
  readonly listTools: () => Promise<object>
  readonly callTool: (call: ToolCall) => Promise<object>
  readonly listResources: () => Promise<object>
  readonly readResource: (resource: { uri: string }) => Promise<object>
  readonly listPrompts: () => Promise<object>
  readonly getPrompt: (prompt: PromptCall) => Promise<object>
  readonly close: () => Promise<void>
}

interface ToolCall {
  name: string
  arguments: Record<string, unknown>
}

interface PromptCall {
  name: string
  arguments: Record<string, string>
}

/** Where a client connects to, and with what. */
interface Place {
  readonly url: string
  /** Null for a client that was given none. */
  readonly token: string | null
  /** A folder of the client's own, for what it keeps. */
  readonly folder: string
}

/** A real client, and what its user reads when the server turns it away. */
export interface Party {
  readonly name: string
  readonly connect: (place: Place) => Promise<McpClient>
  /** The protocol's revision that it is to speak. */
  readonly revision: string
  /** The error of a call after the token was revoked. */
  readonly revoked: RegExp
  /** The error of connecting without a token. */
  readonly tokenless: RegExp
}

const clientInfo = { name: 'scenario', version: '1.0.0' }
const refusal = /This token is unknown or has ended, or none was sent\. Send a live token/
const noOAuth = /static API tokens, not OAuth/

/** The clients that run in Node, in every way of theirs to speak to this server. */
export const nodeParties: readonly [Party, ...Party[]] = [
  modernParty('the 2.x client, pinned to the modern era', { pin: '2026-07-28' }),
  modernParty('the 2.x client, left to find out', 'auto'),
  {
    name: 'the 2.x client in the legacy era',
    connect: (place) => connectModern(place, 'legacy'),
    revision: '2025-11-25',
    revoked: refusal,
    tokenless: refusal,
  },
  {
    name: 'the 1.x client',
    connect: (place) => connectOld(place),
    revision: '2025-11-25',
    revoked: refusal,
    tokenless: refusal,
  },
  bridgeParty('mcp-remote', '2025-11-25', []),
  bridgeParty('mcp-remote in the modern era', '2026-07-28', ['--protocol', 'auto']),
]

/** Clients that would sign in by OAuth if they found any. */
export const signInParties: readonly Pick<Party, 'name' | 'connect' | 'tokenless'>[] = [
  {
    name: 'the 2.x client, ready to sign in',
    connect: (place) => connectModern(place, 'auto', noSignIn),
    tokenless: noOAuth,
  },
  {
    name: 'the 2.x client in the legacy era, ready to sign in',
    connect: (place) => connectModern(place, 'legacy', noSignIn),
    tokenless: noOAuth,
  },
  {
    name: 'the 1.x client, ready to sign in',
    connect: (place) => connectOld(place, noSignIn),
    // It shows only the `error_description` of OAuth's own errors, which ours is not.
    tokenless: /^$/,
  },
]

/** Starts from nothing, and never gets as far as to keep something. */
const noSignIn: OAuthClientProvider = {
  redirectUrl: 'http://127.0.0.1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
  clientInformation: () => undefined,
  saveClientInformation: neverReached,
  tokens: () => undefined,
  saveTokens: neverReached,
  redirectToAuthorization: neverReached,
  saveCodeVerifier: neverReached,
  codeVerifier: neverReached,
}

function neverReached(): never {
  throw new Error('this server has no OAuth')
}

type Mode = 'legacy' | 'auto' | { pin: string }

function modernParty(name: string, mode: Mode): Party {
  return {
    name,
    connect: (place) => connectModern(place, mode),
    revision: '2026-07-28',
    revoked: refusal,
    tokenless: /the server requires authorization \(HTTP 401\)/,
  }
}

async function connectModern(
  { url, token }: Place,
  mode: Mode,
  authProvider?: OAuthClientProvider,
): Promise<McpClient> {
  const client = new Client(clientInfo, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: bearer(token) },
    ...(authProvider && { authProvider }),
  })
  await client.connect(transport)
  return client
}

async function connectOld(
  { url, token }: Place,
  authProvider?: OAuthClientProvider,
): Promise<McpClient> {
  const client = new OldClient(clientInfo)
  const transport = new OldTransport(new URL(url), {
    requestInit: { headers: bearer(token) },
    ...(authProvider && { authProvider }),
  })
  // Its own class does not meet its own interface under exactOptionalPropertyTypes.
  await client.connect(transport as Transport)
  return client
}

function bearer(token: string | null): Record<string, string> {
  return token === null ? {} : { Authorization: `Bearer ${token}` }
}

/** A bridge looks for OAuth as soon as it is refused, and tells what it found instead. */
function bridgeParty(name: string, revision: string, options: readonly string[]): Party {
  return {
    name,
    connect: (place) => connectBridge(place, { options }),
    revision,
    revoked: noOAuth,
    tokenless: noOAuth,
  }
}

interface BridgeOptions {
  /** More of its command line. */
  readonly options: readonly string[]
  /** Hears all that it has said so far, each time that it says more. */
  readonly onWords?: (said: string) => void
}

/** mcp-remote as desktop clients start it: the header's value comes from the environment. */
export async function connectBridge(
  { url, token, folder }: Place,
  { options, onWords }: BridgeOptions,
): Promise<McpClient> {
  // eslint-disable-next-line no-template-curly-in-string -- mcp-remote fills it in
  const header = token === null ? [] : ['--header', 'Authorization:${AUTH_HEADER}']
  mkdirSync(folder, { recursive: true })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      fileURLToPath(import.meta.resolve('mcp-remote/dist/proxy.js')),
      url,
      ...header,
      '--allow-http',
      '--transport',
      'http-only',
      ...options,
    ],
    env: {
      MCP_REMOTE_CONFIG_DIR: folder,
      // It is to find no browser on this machine.
      BROWSER: '/bin/true',
      PATH: folder,
      ...(token !== null && { AUTH_HEADER: `Bearer ${token}` }),
    },
    stderr: 'pipe',
  })
  let said = ''
  transport.stderr?.on('data', (chunk) => {
    said += String(chunk)
    onWords?.(said)
  })
  const client = new Client(clientInfo)
  try {
    await client.connect(transport)
  } catch (cause) {
    throw new Error(`${String(cause)}\n${said}`, { cause })
  }
  return client
}
