import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { isBusy } from './pragmas.js'
import { ensurePrivateFile } from './private-file.js'

const heldByServer =
  'another server uses this state folder: stop it, or give this one its own (--state)'
/** Longer than `isHeld` shares the lock. */
const takeMsMax = 200

/**
 * Reserves a folder for one process by a lock of the operating system on a file in it, which a
 * crash releases. A state folder has one server: two would remove each other's versions and double
 * the rate limits. The command line needs no lock on it and works while the server runs.
 */
export class ServerLock {
  readonly #db: Database.Database

  private constructor(db: Database.Database) {
    this.#db = db
  }

  /**
   * @throws Error, for the operator, when another process holds the folder; otherwise the error of
   *   the system or of SQLite, for example for a full disk
   */
  static take(path: string, held = heldByServer): ServerLock {
    ensurePrivateFile(path)
    const db = new Database(path, { timeout: takeMsMax })
    try {
      db.pragma('locking_mode = EXCLUSIVE')
      db.exec('BEGIN EXCLUSIVE')
    } catch (cause) {
      db.close()
      throw isBusy(cause) ? new Error(held, { cause }) : cause
    }
    return new ServerLock(db)
  }

  /**
   * False when no server uses the folder. The check shares the lock for a moment; `take` waits for
   * it.
   */
  static isHeld(path: string): boolean {
    if (!existsSync(path)) return false
    const db = new Database(path, { readonly: true, timeout: 0 })
    try {
      db.pragma('schema_version')
      return false
    } catch {
      // Held, or left by a crash: only a write could distinguish them.
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
