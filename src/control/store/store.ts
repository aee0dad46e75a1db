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

/** Far more than the statements in this folder: more means that SQL text is built at run time. */
const statementsMax = 100

/** Values by their `@name` in the statement; bytes come back as a Buffer. */
export type Values = Readonly<Record<string, string | number | null | Uint8Array>>

interface StoreOptions {
  /** How long a statement blocks for another process's lock; then service_unavailable. */
  readonly busyTimeoutMs?: number
  /** `commit` when left out. */
  readonly syncs?: Syncs
  /** May refuse, by throwing, to upgrade an older schema. */
  readonly beforeUpgrade?: BeforeUpgrade
  /** Who writes, for the audit trail; `server` when left out. */
  readonly actor?: string
}

/** SQLite's result of a checkpoint. */
interface Checkpoint {
  readonly busy: number
}

/** Called after each transaction: with undefined when it is durable, or with the failure. */
export type WriteWatch = (failure: ServiceError | undefined) => void

/** Runs work in a transaction. */
type Transaction = Database.Transaction<(work: () => unknown) => unknown>

/** Opens the file at the store's path. */
type Open = () => Database.Database

/**
 * The control database: subscribers, subscriptions, grants, tokens and usage. A transaction that
 * returned survives a power cut (WAL, `synchronous=FULL`), unless the store was opened with
 * `syncs: 'later'`. Several processes may open the same file.
 *
 * Reads and writes throw service_unavailable when the file can't be used (`failures.ts`).
 */
export class ControlStore {
  /** Who writes, for the audit trail: the OS user of a command, or `server`. */
  readonly actor: string
  readonly #path: string
  readonly #open: Open
  readonly #statements = new Map<string, Database.Statement<[Values]>>()
  #db: Database.Database
  #transaction: Transaction
  #identity: string | null
  #watch: WriteWatch | undefined
  #damaged: ((cause: unknown) => void) | undefined
  #isBlocked = false
  #busyTimeoutMs: number | undefined

  private constructor(path: string, open: Open, actor = 'server') {
    this.actor = actor
    this.#path = path
    this.#open = open
    this.#db = open()
    this.#transaction = transactionOf(this.#db)
    this.#identity = fileIdentity(path)
  }

  /**
   * Opens or creates the database at `path`, owner-only (file 0600, new folders 0700), migrated to
   * this release's schema.
   *
   * @throws Error, for the operator, when the file is newer than this release, is not a database,
   *   or can't be opened or put in WAL mode. Then no file stays open.
   */
  static open(path: string, options: StoreOptions = {}): ControlStore {
    ensurePrivateFile(path)
    return new ControlStore(path, () => openToWrite(path, options), options.actor)
  }

  /**
   * Opens the database at `path` read-only. An older schema is not migrated.
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

  /** An older release wrote the file, and it was opened read-only. */
  get isOutdated(): boolean {
    return this.schemaVersion < controlMigrations.length
  }

  /** Identifies the open file; `reopen` may change it. */
  get identity(): string | null {
    return this.#identity
  }

  /** False when the file was removed, or another one was put in its place. */
  get isInPlace(): boolean {
    return fileIdentity(this.#path) === this.#identity
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
    this.#transaction = transactionOf(this.#db)
    this.#identity = fileIdentity(this.#path)
    this.#statements.clear()
    if (this.#busyTimeoutMs !== undefined) this.setBusyTimeout(this.#busyTimeoutMs)
    this.#isBlocked = false
    closeCheckpointed(former)
  }

  /**
   * Runs `work` in one IMMEDIATE transaction: all of it is durable on return, none of it if it
   * throws, and no other connection writes in between. A nested `write` joins the outer one.
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

  /** Calls `watch` at the end of every `write`, except when its work throws an error of its own. */
  watchWrites(watch: WriteWatch): void {
    this.#watch = watch
  }

  /** Calls `report` with SQLite's error when it finds the file damaged. */
  watchDamage(report: (cause: unknown) => void): void {
    this.#damaged = report
  }

  /** Reports damage that the caller found. @throws service_unavailable */
  reportDamage(cause: Error): never {
    this.#damaged?.(cause)
    throw unavailable(cause)
  }

  /** @throws service_unavailable after `block`: the reason is in the log already */
  refuseBlocked(): void {
    if (this.#isBlocked) throw unavailable(undefined)
  }

  /**
   * Limits how long a statement blocks for another process's lock. Opening a store may wait long; a
   * server that uses it must not.
   */
  setBusyTimeout(busyTimeoutMs: number): void {
    this.#busyTimeoutMs = busyTimeoutMs
    this.#db.pragma(`busy_timeout = ${busyTimeoutMs}`)
  }

  /**
   * Moves the write-ahead log into the database, durably, and empties it.
   *
   * @throws service_unavailable when another connection uses the log, or the disk fails.
   */
  checkpoint(): void {
    const pragma = 'wal_checkpoint(TRUNCATE)'
    const [result] = this.#guarded(() => this.#db.pragma(pragma)) as Checkpoint[]
    if (result?.busy === 0) return
    throw unavailable(new Database.SqliteError('the write-ahead log is in use', 'SQLITE_BUSY'))
  }

  /** All rows of a statement; the caller states their type. */
  all<Row>(sql: string, values: Values = {}): Row[] {
    // better-sqlite3 can't infer the columns of a statement.
    return this.#guarded(() => this.#prepared(sql).all(values)) as Row[]
  }

  /** Runs a statement without result rows; returns the number of rows that it changed. */
  run(sql: string, values: Values = {}): number {
    return this.#guarded(() => this.#prepared(sql).run(values).changes)
  }

  #transact<T>(work: () => T): T {
    // The transaction returns what its work returns.
    return this.#guarded(() => this.#transaction.immediate(work)) as T
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

/** Made once for a connection: making one takes as long as a statement. */
function transactionOf(db: Database.Database): Transaction {
  return db.transaction((work: () => unknown) => work())
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

function closeCheckpointed(db: Database.Database): void {
  if (!db.open) return
  try {
    db.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // The log is durable, and the next process to open the file reads it.
  }
  db.close()
}

function isUnavailable(cause: unknown): cause is ServiceError {
  return cause instanceof ServiceError && cause.code === 'service_unavailable'
}
