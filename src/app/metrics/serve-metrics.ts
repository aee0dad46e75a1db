import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../config.js'
import type { CleanupStack } from '../cleanup-stack.js'
import { addGauges } from './gauges.js'
import type { GaugedParts } from './gauges.js'
import { MetricsServer } from './metrics-server.js'
import type { Metrics } from './metrics.js'

interface ServedParts extends GaugedParts {
  readonly config: Pick<Config, 'state' | 'metricsHost' | 'metricsPort'>
  readonly cleanup: CleanupStack
  readonly logger: FastifyBaseLogger
}

/**
 * Serves the metrics and the state of a server until it is closed.
 * @throws Error, for the operator, if the address can't be used
 */
export async function serveMetrics({ registry }: Metrics, parts: ServedParts): Promise<void> {
  const { config, cleanup, logger } = parts
  cleanup.adopt(addGauges(registry, parts), (stop) => {
    stop()
  })
  const address = { host: config.metricsHost, port: config.metricsPort ?? 0 }
  cleanup.use(await MetricsServer.listen(registry, address, logger))
}
