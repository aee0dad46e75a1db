import Database from 'better-sqlite3'
import { ServiceError } from '../../errors.js'
import { failClosed, isDamage, isLocked, storeUnavailable } from './failures.js'
import { controlMigrations, versionOf } from './migrations.js'
import {
  busyTimeoutMsDefault,
  closeCheckpointed,
  openToRead,
  openToWrite,
} from './open-database.js'
import type { FileOptions } from './open-database.js'
import { ensurePrivateFile } from './private-file.js'
import { sql } from './sql.js'
import type { Sql, SqlValue } from './sql.js'
import { fileIdentity } from './store-file.js'

/** Far more than the statements in this folder: more means that SQL text is built at run time. */
const statementsMax = 200

const beginImmediate = sql`BEGIN IMMEDIATE`
const dataVersion = sql`PRAGMA data_version`
/** More than any data version. */
const versionsMax = 2 ** 32

/** Called after each transaction: with undefined when it is durable, or with the failure. */
export type WriteWatch = (failure: ServiceError | undefined) => void

/** Opens the file at the store's path. */
type Open = () => Database.Database

/**
 * One connection to a control.db. A transaction that was committed survives a power cut (WAL,
 * `synchronous=FULL`), unless the file was opened with `syncs: 'later'`. Several processes may open
 * the same file.
 *
 * Reads and writes throw service_unavailable when the file can't be used (`failures.ts`).
 */
export class SqliteFile {
  readonly #path: string
  readonly #open: Open
  readonly #statements = new Map<string, Database.Statement<SqlValue[]>>()
  #db: Database.Database
  #identity: string | null
  /** Those of the write-ahead log and its index; null until a check has seen them. */
  #logIdentity: string | null = null
  #watch: WriteWatch | undefined
  #damaged: ((cause: unknown) => void) | undefined
  #isBlocked = false
  #busyTimeoutMs: number
  /** What the connection was told last. */
  #setMs: number | null = null
  /** How often the file was opened again. */
  #reopened = 0

  private constructor(path: string, open: Open, busyTimeoutMs = busyTimeoutMsDefault) {
    this.#path = path
    this.#open = open
    this.#busyTimeoutMs = busyTimeoutMs
    this.#db = open()
    this.#identity = fileIdentity(path)
  }

  /**
   * Opens or creates the database at `path`, owner-only (file 0600, new folders 0700), migrated to
   * this release's schema.
   *
   * @throws Error, for the operator, when the file is newer than this release, is not a database,
   *   or can't be opened or put in WAL mode. Then no file stays open.
   */
  static open(path: string, options: FileOptions = {}): SqliteFile {
    ensurePrivateFile(path)
    return new SqliteFile(path, () => openToWrite(path, options), options.busyTimeoutMs)
  }

  /**
   * Opens the database at `path` read-only. An older schema is not migrated.
   *
   * @throws Error, for the operator, when the file is newer than this release or can't be opened
   */
  static openToRead(path: string): SqliteFile {
    return new SqliteFile(path, () => openToRead(path))
  }

  get db(): Database.Database {
    return this.#db
  }

  get schemaVersion(): number {
    return versionOf(this.#db)
  }

  /** An older release wrote the file, and it was opened read-only. */
  get isOutdated(): boolean {
    return this.schemaVersion < controlMigrations.length
  }

  /** How long a statement, or a transaction's begin, waits for another connection's lock. */
  get busyTimeoutMs(): number {
    return this.#busyTimeoutMs
  }

  /** Identifies the open file; `reopen` may change it. */
  get identity(): string | null {
    return this.#identity
  }

  /** Another number after each commit of another connection, and after `reopen`. */
  commitsOfOthers(): number {
    const [found] = this.all<{ data_version: number }>(dataVersion)
    return this.#reopened * versionsMax + (found?.data_version ?? 0)
  }

  /** False when the file was removed, or another one was put in its place. */
  get isInPlace(): boolean {
    return fileIdentity(this.#path) === this.#identity
  }

  /** False when the write-ahead log or its index was removed or replaced since the last check. */
  get isLogInPlace(): boolean {
    const found = ['wal', 'shm'].map((suffix) => fileIdentity(`${this.#path}-${suffix}`)).join()
    this.#logIdentity ??= found
    return found === this.#logIdentity
  }

  /**
   * Moves the write-ahead log into the database file, if possible, and closes it. A second call
   * does nothing.
   */
  close(): void {
    closeCheckpointed(this.#db)
  }

  /** Refuses every read and write with service_unavailable until `reopen`. */
  block(): void {
    this.#isBlocked = true
  }

  /**
   * Uses the file that is at the path now.
   * @throws Error, for the operator, like `open`; then nothing has changed
   */
  reopen(): void {
    const former = this.#db
    this.#db = this.#open()
    this.#identity = fileIdentity(this.#path)
    this.#logIdentity = null
    this.#reopened += 1
    this.#setMs = null
    this.#statements.clear()
    this.#setTimeout(this.#busyTimeoutMs)
    this.#isBlocked = false
    closeCheckpointed(former)
  }

  /**
   * Runs `work` in one IMMEDIATE transaction: all of it is durable on return, none of it if it
   * throws, and no other connection writes in between.
   */
  write(work: () => void): void {
    this.#step(beginImmediate)
    try {
      work()
    } catch (cause) {
      this.rollBack(cause)
    }
    this.commit()
  }

  /**
   * Begins an IMMEDIATE transaction: no other connection writes before `commit` or `rollBack`. Does
   * not wait for another connection's lock: then it returns false, or throws if `mustBegin`.
   */
  begin(mustBegin: boolean): boolean {
    try {
      this.#atOnce(() => this.run(beginImmediate))
      return true
    } catch (cause) {
      if (mustBegin || !isLocked(cause)) this.rollBack(cause)
      return false
    }
  }

  /** Makes the transaction durable; if that fails, none of it happened. */
  commit(): void {
    this.#step(sql`COMMIT`)
    this.#watch?.(undefined)
  }

  /** Undoes the transaction, and throws what stopped it. */
  rollBack(cause: unknown): never {
    // SQLite ends a transaction by itself when the disk is full.
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
    if (isUnavailable(cause)) this.#watch?.(cause)
    throw cause
  }

  /** Calls `watch` at the end of every transaction, except when its work fails by itself. */
  watchWrites(watch: WriteWatch): void {
    this.#watch = watch
  }

  /** Calls `report` with SQLite's error when it finds the file damaged. */
  watchDamage(report: (cause: unknown) => void): void {
    this.#damaged = report
  }

  /** @throws service_unavailable after `block`: the reason is in the log already */
  refuseBlocked(): void {
    if (this.#isBlocked) throw storeUnavailable(undefined)
  }

  /**
   * Limits how long a statement blocks for another process's lock. Opening a store may wait long; a
   * server that uses it must not.
   */
  setBusyTimeout(busyTimeoutMs: number): void {
    this.#busyTimeoutMs = busyTimeoutMs
    this.#setTimeout(busyTimeoutMs)
  }

  /**
   * Moves the write-ahead log into the database, durably, and empties it. Does not wait: the
   * connection that uses the log may be of this thread.
   *
   * @throws service_unavailable when another connection uses the log, or the disk fails.
   */
  checkpoint(): void {
    // The first column of its result tells whether the log was busy.
    const pragma = () => this.#db.pragma('wal_checkpoint(TRUNCATE)', { simple: true })
    if (this.#atOnce(() => this.#guarded(pragma)) === 0) return
    throw storeUnavailable(new Database.SqliteError('the write-ahead log is in use', 'SQLITE_BUSY'))
  }

  /** All rows of a statement; the caller states their type. */
  all<Row>({ texts, values }: Sql): Row[] {
    // better-sqlite3 can't infer the columns of a statement.
    return this.#guarded(() => this.#prepared(texts).all(...values)) as Row[]
  }

  /** Runs a statement without result rows; returns the number of rows that it changed. */
  run({ texts, values }: Sql): number {
    return this.#guarded(() => this.#prepared(texts).run(...values).changes)
  }

  /** Does work whose statements fail where they would wait for another connection's lock. */
  #atOnce<T>(work: () => T): T {
    this.#setTimeout(0)
    try {
      return work()
    } finally {
      this.#setTimeout(this.busyTimeoutMs)
    }
  }

  #setTimeout(ms: number): void {
    // Closed when no file could be opened in its place: then every statement is refused.
    if (ms === this.#setMs || !this.#db.open) return
    this.#db.pragma(`busy_timeout = ${ms}`)
    this.#setMs = ms
  }

  #step(statement: Sql): void {
    try {
      this.run(statement)
    } catch (cause) {
      this.rollBack(cause)
    }
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

  #prepared(texts: readonly string[]): Database.Statement<SqlValue[]> {
    const text = texts.join('?')
    const known = this.#statements.get(text)
    if (known !== undefined) return known
    if (this.#statements.size >= statementsMax) {
      throw new Error(`More than ${statementsMax} statements: SQL text must be constant`)
    }
    const statement = this.#db.prepare<SqlValue[]>(text)
    this.#statements.set(text, statement)
    return statement
  }
}

function isUnavailable(cause: unknown): cause is ServiceError {
  return cause instanceof ServiceError && cause.code === 'service_unavailable'
}
