import type { Random } from '../../random.js'
import { sql } from './sql.js'
import type { Sql } from './sql.js'
import type { SqliteFile } from './sqlite-file.js'
import type { ControlStore, Dialect } from './store.js'

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
  /** Resolves when the savepoint that runs has ended. */
  #inner: Promise<void> | undefined

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
    while (this.#inner !== undefined) await this.#inner
    this.#refuseEnded()
    return await this.#shared.statements.all<Row>(statement)
  }

  async run(statement: Sql): Promise<number> {
    while (this.#inner !== undefined) await this.#inner
    this.#refuseEnded()
    return await this.#shared.statements.run(statement)
  }

  async write<T>(work: (tx: ControlStore) => Promise<T>): Promise<T> {
    while (this.#inner !== undefined) await this.#inner
    this.#refuseEnded()
    const result = this.#nest(work)
    this.#inner = Promise.allSettled([result]).then(() => {
      this.#inner = undefined
    })
    return await result
  }

  /** The store ends its connections; a transaction has none of its own. */
  async close(): Promise<void> {}

  async #nest<T>(work: (tx: ControlStore) => Promise<T>): Promise<T> {
    const { statements } = this.#shared
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
      while (this.#inner !== undefined) await this.#inner
      this.#isOpen = false
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

  #refuseEnded(): void {
    if (this.#shared.broken) throw this.#shared.broken.cause
    if (!this.#isOpen) throw new Error('a statement came after the end of its transaction')
  }
}
