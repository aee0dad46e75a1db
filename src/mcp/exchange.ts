import {
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  isLegacyRequest,
} from '@modelcontextprotocol/server'
import type { Server } from '@modelcontextprotocol/server'
import { recordOf } from '../registry/shape.js'

/** One POST of a client. */
interface Message {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The parsed body; undefined if it is not JSON, an error of the protocol. */
  readonly content: unknown
}

/** The protocol's complete answer: nothing is streamed. */
interface Reply {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

export interface Exchange {
  /** Answers one message with a server made for it alone. */
  readonly answer: (message: Message, server: () => Server) => Promise<Reply>
  readonly close: () => Promise<void>
}

/** Headers that the protocol checks. */
const protocolHeaders = ['mcp-protocol-version', 'mcp-method', 'mcp-name']

/**
 * Both eras of the protocol on one address, stateless (MCP 2026-07-28, and the revisions up to
 * 2025-11-25). Every answer is one JSON body, which all clients must understand, whatever they name
 * in `Accept`.
 */
export function createExchange(): Exchange {
  const servers = new WeakMap<Request, () => Server>()
  const modern = createMcpHandler(
    ({ requestInfo }) => {
      const server = requestInfo && servers.get(requestInfo)
      if (!server) throw new TypeError('a message of another exchange')
      return server()
    },
    { legacy: 'reject' },
  )
  return {
    answer: async (message, server) => {
      const request = requestOf(message)
      servers.set(request, server)
      const options = message.content === undefined ? {} : { parsedBody: message.content }
      if (await isLegacyRequest(request, message.content)) {
        return replyOf(await answerLegacy(request, server(), options))
      }
      // The SDK would open a stream; this server has no notifications.
      const opensStream = recordOf(message.content)['method'] === 'subscriptions/listen'
      if (opensStream) return replyOf(methodNotFound(message))
      return replyOf(await modern.fetch(request, options))
    },
    close: () => modern.close(),
  }
}

async function replyOf(response: Response): Promise<Reply> {
  const type = response.headers.get('content-type')
  return { status: response.status, type, body: await response.text() }
}

/** The server is closed after its answer, also when the client has gone. */
async function answerLegacy(
  request: Request,
  server: Server,
  options: { readonly parsedBody?: unknown },
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, options)
  } finally {
    await server.close()
  }
}

function methodNotFound({ content }: Message): Response {
  const error = { code: ProtocolErrorCode.MethodNotFound, message: 'Method not found' }
  const id = recordOf(content)['id'] ?? null
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 404 })
}

function requestOf({ headers }: Message): Request {
  const kept = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  })
  for (const name of protocolHeaders) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  // Host and path were checked before, and the body was parsed: neither matters here.
  return new Request('http://localhost/', { method: 'POST', headers: kept, body: '' })
}
