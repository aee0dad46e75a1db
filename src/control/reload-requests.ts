import type { ControlStore } from './store/store.js'

/** A wish of the command line, for the server that holds the same state folder. */
export interface ReloadRequest {
  readonly id: number
  /** Follow a registry that drops what live subscriptions use. */
  readonly force: boolean
}

const keptMax = 100

/** Leaves a wish for the server; its id tells later what became of it. */
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
    return row.id
  })
}

/** The oldest wish that nobody has taken, which then is the caller's. */
export function takeReload(store: ControlStore, now: number): ReloadRequest | undefined {
  const waiting = 'SELECT id FROM reloads WHERE taken_at IS NULL ORDER BY id LIMIT 1'
  // A look first: it takes no lock, and there is nearly never anything to take.
  if (store.all(waiting).length === 0) return undefined
  const [taken] = store.write(() =>
    store.all<{ id: number; force: number }>(
      `UPDATE reloads SET taken_at = @now WHERE id = (${waiting}) RETURNING id, force`,
      { now },
    ),
  )
  return taken && { id: taken.id, force: taken.force === 1 }
}

/** Says that the wish was fulfilled, whatever came of it: the dataset states say that. */
export function finishReload(store: ControlStore, id: number, now: number): void {
  store.write(() => store.run('UPDATE reloads SET finished_at = @now WHERE id = @id', { id, now }))
}

/** Takes a wish back, unless a server has it already. True when it is gone. */
export function withdrawReload(store: ControlStore, id: number): boolean {
  return store.write(
    () => store.run('DELETE FROM reloads WHERE id = @id AND taken_at IS NULL', { id }) === 1,
  )
}

/** How far a wish has come. */
export function reloadProgress(store: ControlStore, id: number): 'waiting' | 'taken' | 'finished' {
  const [row] = store.all<{ taken_at: number | null; finished_at: number | null }>(
    'SELECT taken_at, finished_at FROM reloads WHERE id = @id',
    { id },
  )
  if (row && row.taken_at === null) return 'waiting'
  return row && row.finished_at === null ? 'taken' : 'finished'
}
