import Database from 'better-sqlite3'
import { ServiceError } from '../errors.js'
import { failClosed, unavailable } from './failures.js'
import { controlMigrations, migrate } from './migrations.js'
import { setPragmas } from './pragmas.js'
import type { Syncs } from './pragmas.js'
import { ensurePrivateFile } from './private-file.js'

const busyTimeoutMsDefault = 5000

/** Far above the statements in this folder: reaching it means that SQL text is made at run time. */
const statementsMax = 100

/** Values by their `@name` in the statement; bytes come back as a Buffer. */
export type Values = Readonly<Record<string, string | number | null | Uint8Array>>

interface StoreOptions {
  /** How long a statement waits for another process's lock, blocking; then service_unavailable. */
  readonly busyTimeoutMs?: number
  /** `commit` when left out; with `later`, a write is durable once `sync` has resolved. */
  readonly syncs?: Syncs
}

/** What SQLite says of a checkpoint. */
interface Checkpoint {
  readonly busy: number
}

/** Is told how each transaction ended: durable, or with what stood in its way. */
export type WriteWatch = (failure: ServiceError | undefined) => void

/**
 * The control database: who subscribed, with which tokens and grants, and what was used. A
 * transaction that returned survives a power cut (WAL, `synchronous=FULL`), unless the store was
 * opened to be synced later. Several processes may hold the same file open.
 *
 * Reads and writes throw service_unavailable when SQLite can't be relied on (`failures.ts`).
 */
export class ControlStore {
  readonly db: Database.Database
  readonly #statements = new Map<string, Database.Statement<[Values]>>()
  #watch: WriteWatch | undefined

  private constructor(db: Database.Database) {
    this.db = db
  }

  /**
   * Opens or creates the database at `path`, owner-only (file 0600, new folders 0700), migrated to
   * this release's schema.
   *
   * @throws Error, for the operator, when the file is newer than this release, is no database, or
   *   can't be opened or put in WAL mode. Nothing stays open then.
   */
  static open(path: string, options: StoreOptions = {}): ControlStore {
    ensurePrivateFile(path)
    const busyTimeoutMs = options.busyTimeoutMs ?? busyTimeoutMsDefault
    const db = new Database(path, { timeout: busyTimeoutMs })
    try {
      setPragmas(db, busyTimeoutMs, options.syncs ?? 'commit')
      migrate(db, controlMigrations)
    } catch (error) {
      db.close()
      throw error
    }
    return new ControlStore(db)
  }

  /**
   * Folds the write-ahead log into the database file, where that can be, and closes it; a second
   * call does nothing.
   */
  close(): void {
    if (!this.db.open) return
    try {
      this.db.pragma('wal_checkpoint(TRUNCATE)')
    } catch {
      // What was committed is durable in the log; the next one to open the file finds it there.
    }
    this.db.close()
  }

  /**
   * Runs `work` in one IMMEDIATE transaction: all of it is durable on return, none of it if it
   * throws, and no other connection writes in between. Inside another `write` it joins that one.
   */
  write<T>(work: () => T): T {
    if (this.db.inTransaction) return this.#transact(work)
    try {
      const result = this.#transact(work)
      this.#watch?.(undefined)
      return result
    } catch (cause) {
      if (isUnavailable(cause)) this.#watch?.(cause)
      throw cause
    }
  }

  /** From now on `watch` is told the end of every `write`; a bug in its work says nothing of us. */
  watchWrites(watch: WriteWatch): void {
    this.#watch = watch
  }

  /**
   * From now on a statement blocks no longer than this for another process's lock. To open a store
   * may take long; whoever serves with it must not stand still.
   */
  setBusyTimeout(busyTimeoutMs: number): void {
    this.db.pragma(`busy_timeout = ${busyTimeoutMs}`)
  }

  /**
   * Moves the write-ahead log into the database, durably, and begins it anew.
   *
   * @throws service_unavailable when somebody still reads or writes it, or the disk fails.
   */
  checkpoint(): void {
    const [result] = failClosed(() => this.db.pragma('wal_checkpoint(TRUNCATE)')) as Checkpoint[]
    if (result?.busy === 0) return
    throw unavailable(new Database.SqliteError('the write-ahead log is in use', 'SQLITE_BUSY'))
  }

  /** All rows of a statement; `Row` is what its author says the columns are. */
  all<Row>(sql: string, values: Values = {}): Row[] {
    // The one place where SQL's columns become a type: better-sqlite3 can't infer them either.
    return failClosed(() => this.#prepared(sql).all(values)) as Row[]
  }

  /** Runs a statement that returns no rows; the number of rows that it changed. */
  run(sql: string, values: Values = {}): number {
    return failClosed(() => this.#prepared(sql).run(values).changes)
  }

  #transact<T>(work: () => T): T {
    return failClosed(() => this.db.transaction(work).immediate())
  }

  #prepared(sql: string): Database.Statement<[Values]> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    if (this.#statements.size >= statementsMax) {
      throw new Error(`More than ${statementsMax} statements: SQL text must be constant`)
    }
    const statement = this.db.prepare<[Values]>(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

function isUnavailable(cause: unknown): cause is ServiceError {
  return cause instanceof ServiceError && cause.code === 'service_unavailable'
}
