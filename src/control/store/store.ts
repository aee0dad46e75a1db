import Database from 'better-sqlite3'
import { ServiceError } from '../../errors.js'
import { failClosed, isDamage, unavailable } from './failures.js'
import { controlMigrations, migrate, refuseNewer, versionOf } from './migrations.js'
import type { BeforeUpgrade } from './migrations.js'
import { setPragmas } from './pragmas.js'
import type { Syncs } from './pragmas.js'
import { ensurePrivateFile } from './private-file.js'
import { fileIdentity } from './store-file.js'

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
  /** May refuse to bring an older schema to this release's. */
  readonly beforeUpgrade?: BeforeUpgrade
}

/** What SQLite says of a checkpoint. */
interface Checkpoint {
  readonly busy: number
}

/** Is told how each transaction ended: durable, or with what stood in its way. */
export type WriteWatch = (failure: ServiceError | undefined) => void

/** Opens the file that lies at the store's path. */
type Open = () => Database.Database

/**
 * The control database: who subscribed, with which tokens and grants, and what was used. A
 * transaction that returned survives a power cut (WAL, `synchronous=FULL`), unless the store was
 * opened to be synced later. Several processes may hold the same file open.
 *
 * Reads and writes throw service_unavailable when SQLite can't be relied on (`failures.ts`).
 */
export class ControlStore {
  readonly #path: string
  readonly #open: Open
  readonly #statements = new Map<string, Database.Statement<[Values]>>()
  #db: Database.Database
  #identity: string | null
  #watch: WriteWatch | undefined
  #damaged: ((cause: unknown) => void) | undefined
  #isBlocked = false
  #busyTimeoutMs: number | undefined

  private constructor(path: string, open: Open) {
    this.#path = path
    this.#open = open
    this.#db = open()
    this.#identity = fileIdentity(path)
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
    return new ControlStore(path, () => openToWrite(path, options))
  }

  /**
   * Opens the database at `path` to read it as it is: nothing is made, migrated or written, and a
   * schema of an older release stays what it is.
   *
   * @throws Error, for the operator, when the file is newer than this release or can't be opened
   */
  static openToRead(path: string): ControlStore {
    return new ControlStore(path, () => openToRead(path))
  }

  get db(): Database.Database {
    return this.#db
  }

  get schemaVersion(): number {
    return versionOf(this.#db)
  }

  /** An older release wrote it, and it was opened to be read. */
  get isOutdated(): boolean {
    return this.schemaVersion < controlMigrations.length
  }

  /** Which file is read: another text after `reopen`, where another one lay at the path. */
  get identity(): string | null {
    return this.#identity
  }

  /** False when the file was removed, or another one was put in its place. */
  get isInPlace(): boolean {
    return fileIdentity(this.#path) === this.#identity
  }

  /**
   * Folds the write-ahead log into the database file, where that can be, and closes it; a second
   * call does nothing.
   */
  close(): void {
    closeFolded(this.#db)
  }

  /** From now on every read and write is refused with service_unavailable, until `reopen`. */
  block(): void {
    this.#isBlocked = true
  }

  /**
   * Goes on with the file that lies at the path now, in the state in which it is there.
   * @throws Error, for the operator, as `open` does; then nothing has changed
   */
  reopen(): void {
    const former = this.#db
    this.#db = this.#open()
    this.#identity = fileIdentity(this.#path)
    this.#statements.clear()
    if (this.#busyTimeoutMs !== undefined) this.setBusyTimeout(this.#busyTimeoutMs)
    this.#isBlocked = false
    closeFolded(former)
  }

  /**
   * Runs `work` in one IMMEDIATE transaction: all of it is durable on return, none of it if it
   * throws, and no other connection writes in between. Inside another `write` it joins that one.
   */
  write<T>(work: () => T): T {
    this.refuseBlocked()
    if (this.#db.inTransaction) return this.#transact(work)
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

  /** From now on `report` receives what SQLite says of a file that it finds damaged. */
  watchDamage(report: (cause: unknown) => void): void {
    this.#damaged = report
  }

  /** Reports damage that the caller has found, and throws it as service_unavailable. */
  reportDamage(cause: Error): never {
    this.#damaged?.(cause)
    throw unavailable(cause)
  }

  /** @throws service_unavailable after `block`: the reason is in the log already */
  refuseBlocked(): void {
    if (this.#isBlocked) throw unavailable(undefined)
  }

  /**
   * From now on a statement blocks no longer than this for another process's lock. To open a store
   * may take long; whoever serves with it must not stand still.
   */
  setBusyTimeout(busyTimeoutMs: number): void {
    this.#busyTimeoutMs = busyTimeoutMs
    this.#db.pragma(`busy_timeout = ${busyTimeoutMs}`)
  }

  /**
   * Moves the write-ahead log into the database, durably, and begins it anew.
   *
   * @throws service_unavailable when somebody still reads or writes it, or the disk fails.
   */
  checkpoint(): void {
    const pragma = 'wal_checkpoint(TRUNCATE)'
    const [result] = this.#guarded(() => this.#db.pragma(pragma)) as Checkpoint[]
    if (result?.busy === 0) return
    throw unavailable(new Database.SqliteError('the write-ahead log is in use', 'SQLITE_BUSY'))
  }

  /** All rows of a statement; `Row` is what its author says the columns are. */
  all<Row>(sql: string, values: Values = {}): Row[] {
    // The one place where SQL's columns become a type: better-sqlite3 can't infer them either.
    return this.#guarded(() => this.#prepared(sql).all(values)) as Row[]
  }

  /** Runs a statement that returns no rows; the number of rows that it changed. */
  run(sql: string, values: Values = {}): number {
    return this.#guarded(() => this.#prepared(sql).run(values).changes)
  }

  #transact<T>(work: () => T): T {
    return this.#guarded(() => this.#db.transaction(work).immediate())
  }

  #guarded<T>(work: () => T): T {
    this.refuseBlocked()
    try {
      return failClosed(work)
    } catch (cause) {
      if (isDamage(cause)) this.#damaged?.(cause)
      throw cause
    }
  }

  #prepared(sql: string): Database.Statement<[Values]> {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    if (this.#statements.size >= statementsMax) {
      throw new Error(`More than ${statementsMax} statements: SQL text must be constant`)
    }
    const statement = this.#db.prepare<[Values]>(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

function openToWrite(path: string, options: StoreOptions): Database.Database {
  const busyTimeoutMs = options.busyTimeoutMs ?? busyTimeoutMsDefault
  return opened(path, busyTimeoutMs, (db) => {
    setPragmas(db, busyTimeoutMs, options.syncs ?? 'commit')
    migrate(db, controlMigrations, options.beforeUpgrade)
  })
}

function openToRead(path: string): Database.Database {
  return opened(path, busyTimeoutMsDefault, (db) => {
    db.pragma('query_only = ON')
    refuseNewer(db, controlMigrations.length)
  })
}

function opened(
  path: string,
  timeout: number,
  prepare: (db: Database.Database) => void,
): Database.Database {
  const db = new Database(path, { timeout, fileMustExist: true })
  try {
    prepare(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function closeFolded(db: Database.Database): void {
  if (!db.open) return
  try {
    db.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // What was committed is durable in the log; the next one to open the file finds it there.
  }
  db.close()
}

function isUnavailable(cause: unknown): cause is ServiceError {
  return cause instanceof ServiceError && cause.code === 'service_unavailable'
}
