import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { isBusy } from './pragmas.js'
import { ensurePrivateFile } from './private-file.js'

/** Longer than `isHeld` shares the lock. */
const takeMsMax = 200

/**
 * Reserves a state folder for one server: two servers would remove each other's versions and double
 * the rate limits. It is a lock of the operating system on a file beside the store, which a crash
 * releases. The command line needs no lock and works while the server runs.
 */
export class ServerLock {
  readonly #db: Database.Database

  private constructor(db: Database.Database) {
    this.#db = db
  }

  /**
   * @throws Error, for the operator, when another server holds the folder; otherwise the error of
   *   the system or of SQLite, for example for a full disk
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

function held(cause: unknown): Error {
  return new Error(
    'another server uses this state folder: stop it, or give this one its own (--state)',
    { cause },
  )
}
