import { storeUnavailable } from '../store/failures.js'
import type { Random } from '../../random.js'
import { sql } from '../store/sql.js'
import type { Sql } from '../store/sql.js'
import type { ControlStore, Dialect, StoreParts } from '../store/store.js'
import { Transaction } from '../store/transaction.js'
import { lockKey, schemaOf, statementTimeoutMsDefault } from './connection-settings.js'
import type { ConnectionOptions } from './connection-settings.js'
import { migratePostgres } from './postgres-migrations.js'
import { PostgresPool } from './postgres-pool.js'
import type { Connection } from './postgres-pool.js'
import { WriteTurns } from './write-turns.js'

const dialect: Dialect = {
  // In the collation "C", lower() knows ASCII letters only.
  isEmail: (column, email) => sql`lower(${column}) = lower(CAST(${email} AS TEXT) COLLATE "C")`,
}

export interface PostgresOptions extends ConnectionOptions, StoreParts {
  /** Who writes, for the audit trail; `server` when left out. */
  readonly actor?: string
}

/**
 * The control store in a schema of a PostgreSQL, for several servers. Transactions of `write` run
 * one after another over all servers; a single statement outside of them is a transaction of its
 * own. It connects with the first statement, and works again by itself after an interruption.
 */
export class PostgresStore implements ControlStore {
  readonly actor: string
  readonly dialect = dialect
  /** A database is not a file. */
  readonly file = null
  readonly random: Random
  readonly schema: string
  readonly #pool: PostgresPool
  readonly #turns: WriteTurns
  readonly #begin: string
  #isReady = false
  #preparing: Promise<void> | undefined

  /** @throws Error, for the operator, when this is not the URL of a PostgreSQL */
  constructor(url: string, options: PostgresOptions) {
    const { actor = 'server', statementTimeoutMs = statementTimeoutMsDefault } = options
    this.actor = actor
    this.random = options.random
    this.schema = schemaOf(url, options)
    this.#pool = new PostgresPool(url, options)
    this.#turns = new WriteTurns(statementTimeoutMs, options.clock)
    this.#begin = `BEGIN; SELECT pg_advisory_xact_lock(${lockKey(this.schema, 'write')})`
  }

  /**
   * Connects, and brings the schema to this release. Every statement waits for it.
   *
   * @throws Error, for the operator, when the schema is newer than this release;
   *   service_unavailable
   */
  ready(): Promise<void> {
    if (this.#isReady) return Promise.resolve()
    this.#preparing ??= this.#prepare().finally(() => {
      this.#preparing = undefined
    })
    return this.#preparing
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    if (!this.#isReady) await this.ready()
    return await this.#pool.connected((connection) => connection.all<Row>(statement))
  }

  async run(statement: Sql): Promise<number> {
    if (!this.#isReady) await this.ready()
    return await this.#pool.connected((connection) => connection.run(statement))
  }

  /** Waits for its turn before it takes a connection: reads keep the others. */
  async write<T>(work: (tx: ControlStore) => Promise<T>): Promise<T> {
    if (!this.#isReady) await this.ready()
    return await this.#turns.take(() =>
      this.#pool.connected((connection) => this.#transact(connection, work)),
    )
  }

  async close(): Promise<void> {
    await this.#turns.ended()
    await this.#pool.close()
  }

  async #prepare(): Promise<void> {
    await this.#pool.connected((connection) => migratePostgres(connection, this.schema))
    this.#isReady = true
  }

  async #transact<T>(connection: Connection, work: (tx: ControlStore) => Promise<T>): Promise<T> {
    try {
      await connection.query({ text: this.#begin })
      const result = await Transaction.run(this, connection, work)
      await commit(connection)
      return result
    } catch (cause) {
      await rollBack(connection)
      throw cause
    }
  }
}

/**
 * PostgreSQL answers ROLLBACK, without an error, when a statement failed and the failure was not
 * thrown on.
 *
 * @throws service_unavailable also when the answer was lost: then the commit may have happened
 */
async function commit(connection: Connection): Promise<void> {
  const { command } = await connection.query({ text: 'COMMIT' })
  if (command !== 'COMMIT') throw storeUnavailable(new Error('the transaction was rolled back'))
}

/** A connection that can't roll back is ended, which rolls back. */
async function rollBack(connection: Connection): Promise<void> {
  if (connection.isBroken) return
  try {
    await connection.query({ text: 'ROLLBACK' })
  } catch (cause) {
    connection.break(cause)
  }
}
