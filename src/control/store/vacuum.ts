import Database from 'better-sqlite3'

/**
 * Copies the database into an empty file. VACUUM can't run in a transaction, so this opens a
 * connection of its own; it also works while another connection holds the lock.
 */
export function vacuumInto(path: string, target: string): void {
  const reader = new Database(path, { readonly: true })
  try {
    reader.prepare('VACUUM INTO ?').run(target)
  } finally {
    reader.close()
  }
}
