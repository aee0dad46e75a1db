import { recordAction } from './audit.js'
import { insertInto, sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

/** A request of the command line to the server with the same state folder. */
export interface ReloadRequest {
  readonly id: number
  /** Apply changes that are refused otherwise. */
  readonly force: boolean
  /** The one dataset that `force` is for; null = everything. */
  readonly dataset: string | null
}

const keptMax = 100

/** Stores a request and returns its id, for `reloadProgress`. */
export function requestReload(
  store: ControlStore,
  request: Omit<ReloadRequest, 'id'>,
  now: number,
): Promise<number> {
  return store.write(async (tx) => {
    await tx.run(sql`DELETE FROM reloads WHERE id <= (SELECT max(id) FROM reloads) - ${keptMax}`)
    const [row] = await tx.all<{ id: number }>(
      sql`${insertInto('reloads', {
        force: request.force ? 1 : 0,
        dataset: request.dataset,
        requestedAt: now,
      })} RETURNING id`,
    )
    if (!row) throw new RangeError('an insert returned no row')
    const subject = `reload ${row.id}`
    await recordAction(tx, {
      action: 'reload.requested',
      subject,
      details: detailsOf(request),
      now,
    })
    return row.id
  })
}

/** The details of a request in the audit trail. */
export function detailsOf({ force, dataset }: Omit<ReloadRequest, 'id'>) {
  return { force, ...(dataset !== null && { dataset }) }
}

/** Takes the oldest waiting request; `undefined` if none waits. */
export async function takeReload(
  store: ControlStore,
  now: number,
): Promise<ReloadRequest | undefined> {
  const waiting = sql`SELECT id FROM reloads WHERE taken_at IS NULL ORDER BY id LIMIT 1`
  // Reading first takes no lock; there is nearly never a request.
  if ((await store.all(waiting)).length === 0) return undefined
  const [taken] = await store.write((tx) =>
    tx.all<{ id: number; force: number; dataset: string | null }>(
      sql`UPDATE reloads SET taken_at = ${now} WHERE id = (${waiting})
       RETURNING id, force, dataset`,
    ),
  )
  return taken && { ...taken, force: taken.force === 1 }
}

/** Marks a request as done; the dataset states hold the result. */
export async function finishReload(store: ControlStore, id: number, now: number): Promise<void> {
  await store.write((tx) => tx.run(sql`UPDATE reloads SET finished_at = ${now} WHERE id = ${id}`))
}

/** Gives a taken request back, for the next server; without one, its command withdraws it. */
export async function returnReload(store: ControlStore, id: number): Promise<void> {
  await store.write((tx) => tx.run(sql`UPDATE reloads SET taken_at = NULL WHERE id = ${id}`))
}

/** Deletes a request that no server has taken. True when it was deleted. */
export function withdrawReload(store: ControlStore, id: number, now: number): Promise<boolean> {
  return store.write(async (tx) => {
    const deleted = await tx.run(sql`DELETE FROM reloads WHERE id = ${id} AND taken_at IS NULL`)
    if (deleted === 0) return false
    await recordAction(tx, { action: 'reload.withdrawn', subject: `reload ${id}`, now })
    return true
  })
}

/** The state of a request. */
export async function reloadProgress(
  store: ControlStore,
  id: number,
): Promise<'waiting' | 'taken' | 'finished'> {
  const [row] = await store.all<{ taken_at: number | null; finished_at: number | null }>(
    sql`SELECT taken_at, finished_at FROM reloads WHERE id = ${id}`,
  )
  if (row && row.taken_at === null) return 'waiting'
  return row && row.finished_at === null ? 'taken' : 'finished'
}
