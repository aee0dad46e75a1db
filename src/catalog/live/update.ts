import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Registry } from '../../registry/registry.js'

/** `unsettled`: files are being written; check again soon. */
export type UpdateResult = 'unchanged' | 'unsettled' | 'changed'

/** A dataset's entry and the registry that it belongs to. */
export interface DatasetDefinition {
  readonly registry: Registry
  readonly entry: DatasetEntry
}

export interface UpdateOptions {
  /** Opens files without waiting until they settle. */
  readonly isFirst: boolean
  /** Accepts lost columns and rows, and the present content of damaged files. */
  readonly force: boolean
}

/** The result of several updates. */
export function strongest(results: readonly UpdateResult[]): UpdateResult {
  if (results.includes('unsettled')) return 'unsettled'
  return results.includes('changed') ? 'changed' : 'unchanged'
}
