import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { isBusy } from './pragmas.js'
import { ensurePrivateFile } from './private-file.js'

/** Longer than anybody takes to ask whether the lock is held. */
const takeMsMax = 200

/**
 * Holds a state folder for one server: two would remove each other's versions and count rates
 * twice. The lock is the operating system's own, on a file beside the store, so that a crash
 * leaves none behind. The command line needs no lock and works while the server runs.
 */
export class ServerLock {
  readonly #db: Database.Database

  private constructor(db: Database.Database) {
    this.#db = db
  }

  /**
   * @throws Error, for the operator, when another server holds the folder; the system's or SQLite's
   *   own error when the lock can't be written: a full disk is not another server
   */
  static take(path: string): ServerLock {
    ensurePrivateFile(path)
    const db = new Database(path, { timeout: takeMsMax })
    try {
      db.pragma('locking_mode = EXCLUSIVE')
      db.exec('BEGIN EXCLUSIVE')
    } catch (cause) {
      db.close()
      throw isBusy(cause) ? held(cause) : cause
    }
    return new ServerLock(db)
  }

  /**
   * False where certainly no server runs over the folder. Asking shares the lock for a moment,
   * which `take` waits out.
   */
  static isHeld(path: string): boolean {
    if (!existsSync(path)) return false
    const db = new Database(path, { readonly: true, timeout: 0 })
    try {
      db.pragma('schema_version')
      return false
    } catch {
      // Held; or what a crash left can't be told from it without writing.
      return true
    } finally {
      db.close()
    }
  }

  /** Lets the next server in. */
  release(): void {
    this.#db.close()
  }
}

function held(cause: unknown): Error {
  return new Error(
    'another server runs over this state folder: stop it, or give this one its own (--state)',
    { cause },
  )
}
