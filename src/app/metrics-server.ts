import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Registry } from 'prom-client'
import type { ServerBase } from './server-base.js'
import { addGauges } from './gauges.js'
import type { GaugedParts } from './gauges.js'
import type { Metrics } from './metrics.js'

/**
 * Serves the metrics and the state of a server at `GET /metrics` of a listener of its own, without
 * a token, until the server is closed.
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
  const { metricsHost: host, metricsPort: port } = config
  const server = createServer((request, response) => {
    void answer(registry, request, response, logger)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const text = `Can't listen on port ${port} of ${host} for metrics: ${cause.message}`
      reject(new Error(`${text}. Choose another with --metrics-port or --metrics-host.`))
    })
    server.listen(port ?? 0, host, resolve)
  })
  cleanup.adopt(server, closeServer)
  const { address, port: listening } = server.address() as AddressInfo
  logger.info({ address, port: listening }, 'serving metrics')
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
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
