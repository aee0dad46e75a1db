import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'
import type { ServerBase } from './server-base.js'
import { addGauges } from './gauges.js'
import type { GaugedParts } from './gauges.js'
import type { Metrics } from './metrics.js'

interface MetricsAddress {
  readonly host: string
  readonly port: number
}

/**
 * Serves the metrics and the state of a server until it is closed.
 * @throws Error, for the operator, if the address can't be used
 */
export async function serveMetrics(
  base: ServerBase,
  { registry }: Metrics,
  parts: GaugedParts,
): Promise<void> {
  const { config, cleanup, logger } = base
  cleanup.adopt(addGauges(registry, base, parts), (stop) => {
    stop()
  })
  const address = { host: config.metricsHost, port: config.metricsPort ?? 0 }
  cleanup.use(await MetricsServer.listen(registry, address, logger))
}

/** Serves `GET /metrics` on a listener of its own, without a token. */
class MetricsServer {
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
