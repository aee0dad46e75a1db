import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Registry } from '../../registry/registry.js'

/** `unsettled`: something is being written; look again soon. */
export type UpdateResult = 'unchanged' | 'unsettled' | 'changed'

/** The registry, and what it says of one dataset. */
export interface DatasetDefinition {
  readonly registry: Registry
  readonly entry: DatasetEntry
}

export interface UpdateOptions {
  /** Files that may still be written to are opened. */
  readonly isFirst: boolean
  /** What was refused for what it lacks is taken, and a damaged file for what it holds now. */
  readonly force: boolean
}
