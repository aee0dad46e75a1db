import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server'
import { asServiceError, isFault } from '../errors.js'
import type { ErrorCode, ServiceError } from '../errors.js'
import type { Service } from '../service.js'
import { quoted } from '../text.js'
import { callTool } from './call-tool.js'
import type { Call } from './call-tool.js'
import { instructions } from './instructions.js'
import { getPrompt, listPrompts } from './prompts.js'
import { listResources, readResource, resourceTemplates } from './resources.js'
import { offeredTools } from './tools.js'

export interface ProtocolParts {
  readonly service: Service
  /** The version of the product. */
  readonly version: string
  /** Takes faults that the operator must fix. */
  readonly logFault: (error: ServiceError) => void
}

/** Clients may cache answers that do not depend on the token for this long. */
const cacheMs = 300_000

/**
 * A protocol server for one request. It uses the low-level `Server` of the SDK, because this
 * product checks arguments with its own error texts, and numbers as written.
 */
export function protocolServer(parts: ProtocolParts, call: Call): Server {
  const { service, version, logFault } = parts
  const fixed = { ttlMs: cacheMs, cacheScope: 'private' } as const
  const { title } = call.caller.catalog
  // Clients show it: it is made of the owner's title.
  const words = title.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? ['datasets']
  const name = words.join('-')
  const server = new Server(
    { name, title, version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions,
      cacheHints: { 'tools/list': fixed, 'resources/templates/list': fixed },
    },
  )
  const offered = offeredTools(call.caller)
  server.setRequestHandler('tools/list', () => ({ tools: offered }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = offered.find(({ name }) => name === params.name)
    if (!tool) throw unknownTool(params.name, offered)
    return { ...(await callTool(service, tool.name, params.arguments ?? {}, call, logFault)) }
  })
  server.setRequestHandler('resources/list', () =>
    withServiceErrors(parts, call, () => listResources(service, call.caller)),
  )
  server.setRequestHandler('resources/templates/list', () => resourceTemplates)
  server.setRequestHandler('resources/read', ({ params }) =>
    withServiceErrors(parts, call, () => readResource(service, call.caller, params.uri)),
  )
  server.setRequestHandler('prompts/list', () => listPrompts(call.caller))
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(call.caller, params))
  return server
}

/** The SDK sends the text of any error, so a fault must become one that callers may see. */
async function withServiceErrors<T>(
  { logFault }: ProtocolParts,
  { caller }: Call,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const refuse = (code: ErrorCode) => caller.context.observe?.({ kind: 'refusal', code })
    if (cause instanceof ResourceNotFoundError) refuse('not_found')
    if (cause instanceof ProtocolError) throw cause
    const error = asServiceError(cause)
    refuse(error.code)
    if (isFault(error)) logFault(error)
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${error.code}: ${error.detail}`)
  }
}

function unknownTool(name: string, offered: ReturnType<typeof offeredTools>): ProtocolError {
  const names = offered.map((tool) => tool.name).join(', ')
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool ${quoted(name)}. Tools: ${names}.`,
  )
}
