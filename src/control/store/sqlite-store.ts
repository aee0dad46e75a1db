import type { Clock } from '../../clock.js'
import type { Random } from '../../random.js'
import { storeUnavailable } from './failures.js'
import { sql } from './sql.js'
import type { Sql } from './sql.js'
import type { FileOptions } from './open-database.js'
import { SqliteFile } from './sqlite-file.js'
import type { ControlStore, Dialect, StoreParts } from './store.js'
import { Transaction } from './transaction.js'
import type { Statements } from './transaction.js'
import { Turns } from './turns.js'

/** Columns of addresses are COLLATE NOCASE. */
const dialect: Dialect = { isEmail: (column, email) => sql`${column} = ${email}` }

/** The pause between two attempts to take the lock that another connection holds. */
const lockPauseMs = 5

interface StoreOptions extends FileOptions, StoreParts {
  /** Who writes, for the audit trail; `server` when left out. */
  readonly actor?: string
  /** Those of this process's other connection to the same file. */
  readonly turns?: Turns
  /** How long a transaction waits for another connection's lock; else as long as a statement. */
  readonly lockWaitMs?: number
}

/**
 * The control store in one SQLite file, the default. Statements run at once, on the calling thread:
 * a transaction that only awaits its own statements ends before the next event is handled.
 */
export class SqliteStore implements ControlStore {
  readonly actor: string
  readonly dialect = dialect
  readonly file: SqliteFile
  readonly turns: Turns
  readonly random: Random
  readonly #clock: Clock
  readonly #lockWaitMs: number | undefined

  private constructor(file: SqliteFile, options: StoreOptions) {
    const { actor = 'server', turns = new Turns(), clock, random } = options
    this.file = file
    this.actor = actor
    this.turns = turns
    this.random = random
    this.#clock = clock
    this.#lockWaitMs = options.lockWaitMs
  }

  /** See `SqliteFile.open`. */
  static open(path: string, options: StoreOptions): SqliteStore {
    return new SqliteStore(SqliteFile.open(path, options), options)
  }

  /** See `SqliteFile.openToRead`. */
  static openToRead(path: string, parts: StoreParts): SqliteStore {
    return new SqliteStore(SqliteFile.openToRead(path), parts)
  }

  all<Row>(statement: Sql): Promise<Row[]> {
    return this.alone(() => this.file.all(statement))
  }

  run(statement: Sql): Promise<number> {
    return this.write((tx) => tx.run(statement))
  }

  /** Waits for another connection's lock without blocking the thread. */
  async write<T>(work: (tx: ControlStore) => Promise<T>): Promise<T> {
    const { file, turns } = this
    const waitsUntil = this.#clock.monotonicMs() + (this.#lockWaitMs ?? file.busyTimeoutMs)
    for (;;) {
      const isLast = this.#clock.monotonicMs() >= waitsUntil
      const ended = await turns.transact(async () =>
        file.begin(isLast) ? { result: await this.#finish(work) } : null,
      )
      if (ended !== null) return ended.result
      await this.#clock.sleep(lockPauseMs)
    }
  }

  close(): Promise<void> {
    return this.alone(() => this.file.close())
  }

  /** Runs `work`, which uses the file by itself, while no transaction runs. */
  alone<T>(work: () => T): Promise<T> {
    return this.turns.alone(work)
  }

  /** Does the work of a transaction that was begun, and ends it. */
  async #finish<T>(work: (tx: ControlStore) => Promise<T>): Promise<T> {
    const { file } = this
    const result = await Transaction.run(this, statementsIn(file), work).catch((cause: unknown) =>
      file.rollBack(cause),
    )
    file.commit()
    return result
  }
}

/** SQLite ends a transaction by itself when the disk is full: no statement may run after that. */
function statementsIn(file: SqliteFile): Statements {
  const refuseEnded = () => {
    if (!file.db.inTransaction) throw storeUnavailable(new Error('SQLite ended the transaction'))
  }
  return {
    all: async <Row>(statement: Sql) => {
      refuseEnded()
      return file.all<Row>(statement)
    },
    run: async (statement) => {
      refuseEnded()
      return file.run(statement)
    },
  }
}
