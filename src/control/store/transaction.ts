import type { Random } from '../../random.js'
import { sql } from './sql.js'
import type { Sql } from './sql.js'
import type { SqliteFile } from './sqlite-file.js'
import type { ControlStore, Dialect } from './store.js'
import { Turns } from './turns.js'

/** Statements on the connection that holds a transaction. */
export type Statements = Pick<ControlStore, 'all' | 'run'>

/** What a transaction shows of its store. */
type Owner = Pick<ControlStore, 'actor' | 'random' | 'dialect' | 'file'>

/** What a transaction and those in it share. */
interface Shared {
  readonly store: Owner
  readonly statements: Statements
  /** Why the transaction can't be committed any more. */
  broken: { readonly cause: unknown } | undefined
}

/**
 * What takes part in a transaction. Its own `write` is a savepoint: if it rejects, only its own
 * writes are undone. Other statements wait until the savepoint has ended.
 */
export class Transaction implements ControlStore {
  readonly #shared: Shared
  #isOpen = true
  /** Its savepoints, one at a time. */
  readonly #turns = new Turns()

  private constructor(shared: Shared) {
    this.#shared = shared
  }

  /**
   * Runs `work` in a transaction that has begun, and resolves when it may be committed. Rejects if
   * it must be rolled back.
   */
  static async run<T>(
    store: Owner,
    statements: Statements,
    work: (tx: ControlStore) => Promise<T>,
  ): Promise<T> {
    const shared: Shared = { store, statements, broken: undefined }
    const result = await new Transaction(shared).#run(work)
    if (shared.broken) throw shared.broken.cause
    return result
  }

  get actor(): string {
    return this.#shared.store.actor
  }

  get random(): Random {
    return this.#shared.store.random
  }

  get dialect(): Dialect {
    return this.#shared.store.dialect
  }

  get file(): SqliteFile | null {
    return this.#shared.store.file
  }

  async all<Row>(statement: Sql): Promise<Row[]> {
    return await this.#turns.alone(() => this.#open().all<Row>(statement))
  }

  async run(statement: Sql): Promise<number> {
    return await this.#turns.alone(() => this.#open().run(statement))
  }

  write<T>(work: (tx: ControlStore) => Promise<T>): Promise<T> {
    return this.#turns.transact(() => this.#nest(this.#open(), work))
  }

  /** The store ends its connections; a transaction has none of its own. */
  async close(): Promise<void> {}

  async #nest<T>(statements: Statements, work: (tx: ControlStore) => Promise<T>): Promise<T> {
    await statements.run(sql`SAVEPOINT nested`)
    try {
      const result = await new Transaction(this.#shared).#run(work)
      await statements.run(sql`RELEASE nested`)
      return result
    } catch (cause) {
      await this.#undo(cause)
      throw cause
    }
  }

  /** Ends with `work`: a statement that it left behind must not run after it. */
  async #run<T>(work: (tx: ControlStore) => Promise<T>): Promise<T> {
    try {
      return await work(this)
    } finally {
      await this.#turns.alone(() => {
        this.#isOpen = false
      })
    }
  }

  async #undo(cause: unknown): Promise<void> {
    const { statements } = this.#shared
    try {
      await statements.run(sql`ROLLBACK TO nested`)
      await statements.run(sql`RELEASE nested`)
    } catch {
      // The database ended the transaction, or the connection broke: the cause says why.
      this.#shared.broken ??= { cause }
    }
  }

  /** The statements of a transaction that goes on. */
  #open(): Statements {
    const { broken, statements } = this.#shared
    if (broken) throw broken.cause
    if (!this.#isOpen) throw new Error('a statement came after the end of its transaction')
    return statements
  }
}
