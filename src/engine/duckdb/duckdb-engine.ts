import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Predicate } from '../../catalog/predicate.js'
import type { Version } from '../../catalog/version.js'
import type { Question } from '../../query/question.js'
import type { Engine, ReadOptions, Row, Rows } from '../engine.js'
import { compileCount, compileRead } from './compile.js'
import { isFatal, readFailure, serviceErrorOf } from './failure.js'
import { createInstance } from './instance.js'
import type { InstanceOptions } from './instance.js'
import { planPieces } from './pieces.js'
import type { Piece } from './pieces.js'
import { runStatement } from './run.js'
import { Turns } from './turns.js'

export interface EngineOptions extends InstanceOptions {
  /** Queries that run at once. */
  readonly slots: number
  /** Queries that may wait for a place. */
  readonly queueMax: number
}

/**
 * The engine over an in-process DuckDB. One connection a query: an interrupt stops whatever runs on
 * its connection, so no two queries share one.
 */
export class DuckDbEngine implements Engine {
  readonly #options: EngineOptions
  readonly #turns: Turns
  readonly #closing = new AbortController()
  #instance: Promise<DuckDBInstance>

  private constructor(options: EngineOptions, instance: DuckDBInstance) {
    this.#options = options
    this.#turns = new Turns(options)
    this.#instance = Promise.resolve(instance)
  }

  static async open(options: EngineOptions): Promise<DuckDbEngine> {
    return new DuckDbEngine(options, await createInstance(options))
  }

  read(question: Question, options: ReadOptions): Promise<Rows> {
    return this.#query(options, async (connection, signal) => {
      const { version, predicates, columns, after, limit } = question
      const rows: Row[] = []
      for (const piece of planPieces(version, predicates, after)) {
        const wanted = limit + 1 - rows.length
        const statement = compileRead(piece, predicates, columns, wanted)
        rows.push(...rowsOf(piece, await runStatement(connection, statement, signal)))
        if (rows.length > limit) break
      }
      return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
    })
  }

  count(version: Version, predicates: readonly Predicate[], options: ReadOptions): Promise<number> {
    return this.#query(options, async (connection, signal) => {
      let rows = 0
      for (const piece of planPieces(version, predicates, null)) {
        const statement = compileCount(piece, predicates)
        rows += Number((await runStatement(connection, statement, signal))[0]?.[0] ?? 0)
      }
      return rows
    })
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the engine is closed'))
    const instance = await this.#instance
    instance.closeSync()
  }

  #query<T>(
    { client, signal }: ReadOptions,
    work: (connection: DuckDBConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const ends = AbortSignal.any([signal, this.#closing.signal])
    return this.#turns.run(client, ends, async () => {
      const instance = await this.#instance
      try {
        const connection = await instance.connect()
        try {
          return await work(connection, ends)
        } finally {
          connection.disconnectSync()
        }
      } catch (cause) {
        if (isFatal(readFailure(cause))) this.#replace(instance)
        throw ends.aborted ? cause : serviceErrorOf(cause)
      }
    })
  }

  /** After a fatal error every connection of the instance is refused: the next query gets a new one. */
  #replace(dead: DuckDBInstance): void {
    const current = this.#instance
    this.#instance = current.then((instance) =>
      instance === dead ? createInstance(this.#options) : instance,
    )
  }
}

function rowsOf(piece: Piece, columns: readonly unknown[][]): readonly Row[] {
  const [files = [], numbers = [], texts = []] = columns
  return texts.map((json, index) => ({
    json: String(json),
    position: {
      file: piece.files[Number(files[index])]?.index ?? 0,
      row: Number(numbers[index]),
    },
  }))
}
