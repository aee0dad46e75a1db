import Database from 'better-sqlite3'

/**
 * Writes what the database holds at this moment into an empty file. VACUUM can't run in a
 * transaction: this reads by a connection of its own, also while another one holds the lock.
 */
export function vacuumInto(path: string, target: string): void {
  const reader = new Database(path, { readonly: true })
  try {
    reader.prepare('VACUUM INTO ?').run(target)
  } finally {
    reader.close()
  }
}
