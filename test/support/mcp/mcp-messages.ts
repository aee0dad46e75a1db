import type { Answer, World } from '../world.js'

/** An answer of /mcp, its JSON-RPC members told apart; what is not there is undefined. */
export interface McpAnswer extends Answer {
  readonly result: Readonly<Record<string, unknown>> | undefined
  readonly rpcError:
    { readonly code: number; readonly message: string; readonly data?: unknown } | undefined
}

/** A tool's result, with its one text. */
export interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  /** The structured content; empty where there is none. */
  readonly content: Readonly<Record<string, unknown>>
  readonly answer: McpAnswer
}

export interface McpOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly url?: string
  readonly method?: 'POST' | 'GET' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS'
}

/** Posts a body to /mcp as it is; `undefined` as token sends none. */
export async function postMcp(
  world: World,
  token: string | undefined,
  body: string | Buffer,
  { headers = {}, url = '/mcp', method = 'POST' }: McpOptions = {},
): Promise<McpAnswer> {
  const answer = await world.get(url, token, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const { result, error } = answer.body as unknown as {
    result?: McpAnswer['result']
    error?: unknown
  }
  const isRpc = typeof error === 'object' && error !== null
  return { ...answer, result, rpcError: isRpc ? (error as McpAnswer['rpcError']) : undefined }
}

/** One message of the revisions up to 2025-11-25, which need no handshake here. */
export function callRpc(
  world: World,
  token: string | undefined,
  method: string,
  params: object = {},
  options: McpOptions = {},
): Promise<McpAnswer> {
  return postMcp(world, token, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), options)
}

export const modernRevision = '2026-07-28'

/** One message of the stateless revision: it says who it is in every request, twice. */
export function callModern(
  world: World,
  token: string | undefined,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { headers = {}, ...options }: McpOptions & { readonly revision?: string } = {},
): Promise<McpAnswer> {
  const revision = options.revision ?? modernRevision
  const name = params['name'] ?? params['uri']
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return callRpc(
    world,
    token,
    method,
    { ...params, _meta: meta },
    {
      ...options,
      headers: {
        'mcp-protocol-version': revision,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
        ...headers,
      },
    },
  )
}

/** Calls a tool; throws where the protocol itself refused the call. */
export async function callTool(
  world: World,
  token: string,
  name: string,
  args: object,
): Promise<ToolAnswer> {
  return toolAnswer(await callRpc(world, token, 'tools/call', { name, arguments: args }))
}

/** A description with its facts: on a busy machine they come late, and the next one has them. */
export async function describeResource(
  world: World,
  token: string,
  resource: string,
): Promise<ToolAnswer> {
  const answer = await callTool(world, token, 'describe_resource', { resource })
  const isLate = answer.content['profiled_rows'] === null
  return isLate ? describeResource(world, token, resource) : answer
}

/** The tool's result in an answer of the protocol. */
export function toolAnswer(answer: McpAnswer): ToolAnswer {
  const { result } = answer
  if (!result) throw new Error(`no result: ${answer.status} ${answer.text.slice(0, 500)}`)
  const [{ text = '' } = {}] = result['content'] as readonly { text: string }[]
  const content = (result['structuredContent'] ?? {}) as ToolAnswer['content']
  return { isError: result['isError'] === true, text, content, answer }
}
