import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'

interface MetricsAddress {
  readonly host: string
  readonly port: number
}

/** Serves `GET /metrics` on a listener of its own, without a token. */
export class MetricsServer {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** @throws Error, for the operator, if the address can't be used */
  static async listen(
    registry: Registry,
    { host, port }: MetricsAddress,
    logger: FastifyBaseLogger,
  ): Promise<MetricsServer> {
    const server = createServer((request, response) => {
      void answer(registry, request, response, logger)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => {
        const text = `Can't listen on port ${port} of ${host} for metrics: ${cause.message}`
        reject(new Error(`${text}. Choose another with --metrics-port or --metrics-host.`))
      })
      server.listen(port, host, resolve)
    })
    const address = server.address() as AddressInfo
    logger.info({ address: address.address, port: address.port }, 'serving metrics')
    return new MetricsServer(server)
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }
}

async function answer(
  registry: Registry,
  { method, url }: IncomingMessage,
  response: ServerResponse,
  logger: FastifyBaseLogger,
): Promise<void> {
  if (url !== '/metrics') return end(response, 404, 'Metrics are at /metrics.\n')
  if (method !== 'GET') return end(response, 405, 'Use GET.\n', { Allow: 'GET' })
  try {
    end(response, 200, await registry.metrics(), { 'Content-Type': registry.contentType })
  } catch (cause) {
    logger.error({ err: cause }, "metrics can't be read")
    end(response, 500, 'The metrics could not be read; the log says why.\n')
  }
}

function end(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers }).end(text)
}
