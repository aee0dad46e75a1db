import { insertInto, sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** A version that was published. The same version may be published again, after others. */
export interface PublishedVersion {
  /** Counts the versions of the dataset. */
  readonly number: number
  readonly version: string
  /** The version that it replaced; null for the first one. */
  readonly previous: string | null
  /** The date of its data; null where nothing says it. */
  readonly asOf: string | null
  readonly rows: number
  /** Ms since the epoch. */
  readonly publishedAt: number
  /** What differs from the one before; null while that is not known. */
  readonly changes: 'ready' | 'none' | null
  /** Why there are none, for the owner. */
  readonly changesReason: string | null
}

const versionColumns = sql`number, version, previous, as_of AS "asOf", rows,
  published_at AS "publishedAt", changes, changes_reason AS "changesReason"`

/** The newest published version of each dataset, by its name. */
export async function newestVersions(
  store: ControlStore,
): Promise<ReadonlyMap<string, PublishedVersion>> {
  const rows = await store.all<PublishedVersion & { readonly dataset: string }>(
    sql`SELECT dataset, ${versionColumns} FROM dataset_versions v
     WHERE number = (SELECT max(number) FROM dataset_versions WHERE dataset = v.dataset)`,
  )
  return new Map(rows.map((row) => [row.dataset, row]))
}

/** The published versions of a dataset, newest first. */
export function listVersions(
  store: ControlStore,
  dataset: string,
): Promise<readonly PublishedVersion[]> {
  return store.all<PublishedVersion>(
    sql`SELECT ${versionColumns} FROM dataset_versions
     WHERE dataset = ${dataset} ORDER BY number DESC`,
  )
}

/**
 * Records that a server serves a version now, and served `previous` before; without it, the newest
 * recorded version is the previous one. Of several servers, the first one records it.
 */
export async function recordVersion(
  store: ControlStore,
  dataset: string,
  { previous, ...published }: Omit<PublishedVersion, 'number' | 'changes' | 'changesReason'>,
): Promise<void> {
  const [latest] = await listVersions(store, dataset)
  if (latest?.version === published.version) return
  await store.write(async (tx) => {
    const known = await listVersions(tx, dataset)
    const newest = known[0]?.version ?? null
    const replaced = previous ?? newest
    if (newest === published.version) return
    const isRecorded = known.some(
      (each) => each.version === published.version && each.previous === replaced,
    )
    // Another server was first, and may be ahead.
    if (isRecorded && replaced !== newest) return
    const { asOf, publishedAt, ...same } = published
    const number = (known[0]?.number ?? 0) + 1
    const times = { as_of: asOf, published_at: publishedAt }
    const row = { dataset, number, previous: replaced, ...same, ...times }
    await tx.run(insertInto('dataset_versions', row))
  })
}

/** Records for all servers whether the changes of a version can be asked for. */
export async function recordChanges(
  store: ControlStore,
  dataset: string,
  { version, previous }: Pick<PublishedVersion, 'version' | 'previous'>,
  { changes, changesReason }: Pick<PublishedVersion, 'changes' | 'changesReason'>,
): Promise<void> {
  await store.run(
    sql`UPDATE dataset_versions SET changes = ${changes}, changes_reason = ${changesReason}
     WHERE dataset = ${dataset} AND version = ${version}
       AND coalesce(previous, '') = ${previous ?? ''}`,
  )
}

/** Removes the versions that were replaced before a time; their changes are not kept either. */
export async function forgetVersions(
  store: ControlStore,
  dataset: string,
  before: number,
): Promise<void> {
  await store.run(
    sql`DELETE FROM dataset_versions WHERE dataset = ${dataset} AND published_at < ${before}
     AND number < (SELECT max(number) FROM dataset_versions WHERE dataset = ${dataset})`,
  )
}
