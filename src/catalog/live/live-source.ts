import type { DatasetEntry } from '../../registry/registry-schema.js'
import { remoteTableOf } from '../../versions/remote-table.js'
import type { Dataset } from '../dataset.js'
import { LiveDataset } from './live-dataset.js'
import type { LiveForms } from './live-forms.js'
import { LiveTable } from './live-table.js'
import type { DatasetDefinition, LiveDatasetOptions } from './update.js'

/** A dataset that the live catalog follows: of files, or a table. */
export type LiveSource = Omit<LiveDataset, 'attempts' | 'forms'> & {
  /** Null of a table, which has none. */
  readonly forms: LiveForms | null
}

/** The source if it follows datasets of the entry's kind. */
export function sourceFor(
  source: LiveSource | undefined,
  entry: DatasetEntry,
): LiveSource | undefined {
  return source instanceof LiveTable === (remoteTableOf(entry) !== null) ? source : undefined
}

/** Follows a dataset of the entry's kind. */
export async function openSource(
  name: string,
  definition: DatasetDefinition,
  options: LiveDatasetOptions,
): Promise<LiveSource> {
  const isTable = remoteTableOf(definition.entry) !== null
  const source = new (isTable ? LiveTable : LiveDataset)(name, definition, options)
  await source.restore()
  return source
}

/**
 * Has the next update open refused files again, whatever their state, and take tables as they are
 * now; waits a while for these.
 */
export async function readAgain(sources: Iterable<LiveSource>): Promise<void> {
  const all = [...sources]
  for (const source of all) {
    if (source instanceof LiveDataset && source.dataset.reason !== null) source.attempts.reset()
  }
  const tables = all.filter((source) => source instanceof LiveTable)
  await Promise.all(tables.map((table) => table.refresh()))
}

/** A new dataset is not listed before it was opened once. */
export function listed(source: LiveSource | undefined): Dataset | undefined {
  const dataset = source?.dataset
  return dataset?.version || dataset?.reason ? dataset : undefined
}
