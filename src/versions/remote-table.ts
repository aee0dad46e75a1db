import type { DatasetEntry } from '../registry/registry-schema.js'
import type { OpenedFile } from './opener.js'

/** A table of a Trino cluster, which a dataset is instead of files. */
export interface RemoteTable {
  /** The address of the cluster. */
  readonly url: string
  readonly catalog: string
  readonly schema: string
  readonly table: string
}

/** A table as its cluster describes it. */
export interface OpenedTable extends OpenedFile {
  /** Equal while the table's columns and content are, as far as the cluster can tell. */
  readonly state: string
  /** When it was last written to, in milliseconds since 1970; now if the cluster can't tell. */
  readonly modifiedMs: number
}

/**
 * Reads columns, rows and bounds of a table; of the columns `boundsOf`, by their names there. What
 * is known already is read again only if the table's state differs. The engine implements this;
 * `app/` passes it in.
 * @throws Error with a reason for the owner
 */
export type OpenTable = (
  table: RemoteTable,
  boundsOf: readonly string[],
  signal: AbortSignal,
  known?: OpenedTable | null,
) => Promise<OpenedTable>

/** The table of a registry entry; null for a dataset of files. */
export function remoteTableOf({ engine, table }: DatasetEntry): RemoteTable | null {
  const [catalog, schema, name] = (table ?? '').split('.')
  if (!engine || !catalog || !schema || !name) return null
  return { url: engine.trino, catalog, schema, table: name }
}

/** Its name for messages, in the registry's form. */
export function tableName({ catalog, schema, table }: RemoteTable): string {
  return `${catalog}.${schema}.${table}`
}
