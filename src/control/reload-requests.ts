import { recordAction } from './audit.js'
import type { ControlStore } from './store/store.js'

/** A request of the command line to the server with the same state folder. */
export interface ReloadRequest {
  readonly id: number
  /** Apply changes that are refused otherwise. */
  readonly force: boolean
}

const keptMax = 100

/** Stores a request and returns its id, for `reloadProgress`. */
export function requestReload(store: ControlStore, force: boolean, now: number): number {
  return store.write(() => {
    store.run('DELETE FROM reloads WHERE id <= (SELECT max(id) FROM reloads) - @keptMax', {
      keptMax,
    })
    const [row] = store.all<{ id: number }>(
      'INSERT INTO reloads (force, requested_at) VALUES (@force, @now) RETURNING id',
      { force: force ? 1 : 0, now },
    )
    if (!row) throw new RangeError('an insert returned no row')
    const subject = `reload ${row.id}`
    recordAction(store, { action: 'reload.requested', subject, details: { force }, now })
    return row.id
  })
}

/** Takes the oldest waiting request; `undefined` if none waits. */
export function takeReload(store: ControlStore, now: number): ReloadRequest | undefined {
  const waiting = 'SELECT id FROM reloads WHERE taken_at IS NULL ORDER BY id LIMIT 1'
  // Reading first takes no lock; there is nearly never a request.
  if (store.all(waiting).length === 0) return undefined
  const [taken] = store.write(() =>
    store.all<{ id: number; force: number }>(
      `UPDATE reloads SET taken_at = @now WHERE id = (${waiting}) RETURNING id, force`,
      { now },
    ),
  )
  return taken && { id: taken.id, force: taken.force === 1 }
}

/** Marks a request as done; the dataset states hold the result. */
export function finishReload(store: ControlStore, id: number, now: number): void {
  store.write(() => store.run('UPDATE reloads SET finished_at = @now WHERE id = @id', { id, now }))
}

/** Deletes a request that no server has taken. True when it was deleted. */
export function withdrawReload(store: ControlStore, id: number, now: number): boolean {
  return store.write(() => {
    const deleted = store.run('DELETE FROM reloads WHERE id = @id AND taken_at IS NULL', { id })
    if (deleted === 0) return false
    recordAction(store, { action: 'reload.withdrawn', subject: `reload ${id}`, now })
    return true
  })
}

/** The state of a request. */
export function reloadProgress(store: ControlStore, id: number): 'waiting' | 'taken' | 'finished' {
  const [row] = store.all<{ taken_at: number | null; finished_at: number | null }>(
    'SELECT taken_at, finished_at FROM reloads WHERE id = @id',
    { id },
  )
  if (row && row.taken_at === null) return 'waiting'
  return row && row.finished_at === null ? 'taken' : 'finished'
}
