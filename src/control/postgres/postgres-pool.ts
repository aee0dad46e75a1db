import pg from 'pg'
import type { Sql } from '../store/sql.js'
import { connectionSettings } from './connection-settings.js'
import type { ConnectionOptions } from './connection-settings.js'
import { endsConnection, postgresFailure } from './postgres-failures.js'

const sizeDefault = 10

/** Far more than there are statements: more means that SQL text is built at run time. */
const statementsMax = 400

/** The names of prepared statements on every connection, by their texts. */
type StatementNames = Map<string, string>

/** A statement in the words of PostgreSQL. */
type Query = Pick<pg.QueryConfig, 'name' | 'text'> & {
  readonly values?: readonly unknown[]
  /** How long to wait for the answer; the pool's limit when left out. */
  readonly query_timeout?: number
}

/**
 * Connections to one database, made when they are needed. One that broke is not used again: when
 * PostgreSQL is back, so is the pool.
 */
export class PostgresPool {
  readonly #pool: pg.Pool
  readonly #names: StatementNames = new Map()
  #ended: Promise<void> | undefined

  /** @throws Error, for the operator, when this is not the URL of a PostgreSQL */
  constructor(url: string, options: ConnectionOptions) {
    this.#pool = new pg.Pool({
      ...connectionSettings(url, options),
      max: options.size ?? sizeDefault,
    })
    // A broken connection fails its statements; an event without a listener would end the process.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  /**
   * Runs `work` with a connection of its own.
   * @throws service_unavailable when there is no connection in time, and what `work` throws
   */
  async connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw postgresFailure(cause)
    })
    const connection = new Connection(client, this.#names)
    try {
      return await work(connection)
    } finally {
      client.release(connection.isBroken)
    }
  }

  /** Resolves when all connections have ended, after what runs on them. */
  close(): Promise<void> {
    this.#ended ??= this.#pool.end()
    return this.#ended
  }
}

/** A connection during `connected`. After a failure of the connection, every statement fails. */
export class Connection {
  readonly #client: pg.ClientBase
  readonly #names: StatementNames
  #broken: { readonly cause: unknown } | undefined

  constructor(client: pg.ClientBase, names: StatementNames) {
    this.#client = client
    this.#names = names
  }

  get isBroken(): boolean {
    return this.#broken !== undefined
  }

  /** Lets no statement follow, and the pool make a new connection. */
  break(cause: unknown): void {
    this.#broken ??= { cause }
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    // pg can't infer the columns of a statement.
    return (await this.query(this.#named(statement))).rows as Row[]
  }

  async run(statement: Sql): Promise<number> {
    return (await this.query(this.#named(statement))).rowCount ?? 0
  }

  /**
   * Runs a statement in the words of PostgreSQL.
   * @throws service_unavailable, or PostgreSQL's error for a mistake
   */
  async query(query: Query): Promise<pg.QueryResult<pg.QueryResultRow>> {
    if (this.#broken) throw this.#broken.cause
    try {
      return await this.#client.query(query as pg.QueryConfig)
    } catch (error) {
      const failure = postgresFailure(error)
      if (endsConnection(error)) this.break(failure)
      throw failure
    }
  }

  /** @throws Error when SQL text is built at run time */
  #named({ texts, values }: Sql): Query {
    const text = texts.reduce((before, next, index) => `${before}$${index}${next}`)
    const name = this.#names.get(text) ?? `das${this.#names.size + 1}`
    if (this.#names.size >= statementsMax && !this.#names.has(text)) {
      throw new Error(`More than ${statementsMax} statements: SQL text must be constant`)
    }
    this.#names.set(text, name)
    return { name, text, values }
  }
}
