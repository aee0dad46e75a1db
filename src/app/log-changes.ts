import type { FastifyBaseLogger } from 'fastify'
import type { Serving } from '../catalog/live/live-catalog.js'

/** Takes what became of changed files. */
export type OnReload = (dataset: string, result: 'served' | 'refused') => void

/** Logs what differs from what was served before; null = nothing was. */
export function logChanges(
  logger: FastifyBaseLogger,
  before: Serving | null,
  now: Serving,
  onReload: OnReload,
): void {
  if (now.registryReason !== null && now.registryReason !== before?.registryReason) {
    const what = before ? 'the last good one is served' : 'but served: a start knows no other'
    logger.error({ reason: now.registryReason }, `registry refused, ${what}`)
  }
  if (before && before.registryReason !== null && now.registryReason === null) {
    logger.info('registry served again: no longer refused')
  }
  const ignored = now.registry === before?.registry ? [] : now.registry.warnings
  for (const warning of ignored) logger.warn({ warning }, 'registry used with a warning')
  for (const [name, { version, reason, warnings }] of now.catalog.datasets) {
    const known = before?.catalog.datasets.get(name)
    if (version && version.id !== known?.version?.id) {
      const { id, rows, files } = version
      const replaced = known?.version?.id
      logger.info({ dataset: name, version: id, rows, files: files.length, replaced }, 'serving')
      onReload(name, 'served')
    }
    for (const warning of warnings.filter((each) => !known?.warnings.includes(each))) {
      logger.warn({ dataset: name, version: version?.id, warning }, 'served with a warning')
    }
    if (known && known.reason !== null && reason === null) {
      logger.info({ dataset: name, version: version?.id }, 'served again: no longer refused')
    }
    if (reason === null || reason === known?.reason) continue
    onReload(name, 'refused')
    if (version) logger.error({ dataset: name, reason }, 'refused, the last good version is served')
    else logger.error({ dataset: name, reason }, 'dataset unavailable')
  }
  for (const name of before?.catalog.datasets.keys() ?? []) {
    if (!now.catalog.datasets.has(name)) logger.info({ dataset: name }, 'no longer served')
  }
}
