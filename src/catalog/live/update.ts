import type { Clock } from '../../clock.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import type { Registry } from '../../registry/registry.js'
import type { DiskSpace } from '../../versions/disk-space.js'
import type { InspectFiles } from '../../versions/inspector.js'
import type { OpenFiles } from '../../versions/opener.js'
import type { ObjectSource } from '../../versions/objects/object-files.js'
import type { OpenTable } from '../../versions/remote-table.js'
import type { FileChecks } from '../../versions/store/file-checks.js'

/** How tables of clusters are followed. */
export interface TablesOptions {
  readonly openTable: OpenTable
  /** The pause between two readings of a table. */
  readonly pollMs: number
  /** Called when a table was read, so that the next update takes it. */
  readonly onChange: () => void
  /** Ends every reading. */
  readonly signal: AbortSignal
}

/** What every dataset of a running server needs. */
export interface LiveDatasetOptions {
  readonly openFiles: OpenFiles
  /** Left out = no keys are counted. */
  readonly inspectFiles?: InspectFiles
  /** Which stored files were verified; shared by everything that reads or writes them. */
  readonly checks: FileChecks
  readonly versionsFolder: string
  /** Files in object storage; left out = no object can be read. */
  readonly objects?: ObjectSource
  /** What may be written to the disk; left out = no limit. */
  readonly space?: DiskSpace
  /** Up to so many bytes of a version are copied rather than linked; left out = 0. */
  readonly copyMaxBytes?: number
  /** Left out = no table can be read. */
  readonly tables?: TablesOptions
  readonly clock: Clock
  /** Whether an earlier version is kept beyond its time; left out = none is. */
  readonly isAwaited?: (dataset: string, version: string) => boolean
  /** Called with a form's path before it is removed. */
  readonly forgetForm?: (path: string) => void
}

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

/** Accepts what is refused otherwise: true = everywhere; a name = of this dataset. */
export type Force = boolean | string

/** The result of several updates. */
export function strongest(results: readonly UpdateResult[]): UpdateResult {
  if (results.includes('unsettled')) return 'unsettled'
  return results.includes('changed') ? 'changed' : 'unchanged'
}
