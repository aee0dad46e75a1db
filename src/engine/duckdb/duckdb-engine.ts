import { join } from 'node:path'
import type { Predicate } from '../../columns/predicate.js'
import { ServiceError } from '../../errors.js'
import type { Question } from '../../query/question.js'
import type { FileChecks } from '../../versions/store/file-checks.js'
import type { DataFile, Version } from '../../versions/version.js'
import { withController } from '../deadline.js'
import type { Engine, Profile, ProfileQuestion, ReadOptions, Rows } from '../engine.js'
import type { Choice } from './choice.js'
import { chooseForPage, chooseForTotal } from './choose-form.js'
import { readFailure, serviceErrorOf } from './duckdb-failure.js'
import { PlainPaths } from './plain-paths.js'
import { compileCount, compileRead, rowsOf } from './read/compile.js'
import { onVerified } from './read/on-verified.js'
import { readPageFile } from './read/page-file.js'
import { planCount, planPage } from './read/pieces.js'
import type { Piece } from './read/pieces.js'
import { profileColumns } from './read/profile.js'
import { filesUpTo, readPieces } from './read/read-pieces.js'
import type { ReadContext } from './read/read-pieces.js'
import {
  ChangedFileError,
  UnverifiedError,
  requireUnchanged,
  requireVerified,
} from './read/unchanged.js'
import type { Statement } from './run-statement.js'
import type { SandboxOptions } from './sandbox.js'
import { ServingInstance } from './serving.js'
import type { Session } from './session.js'
import { splitMemory } from './split-memory.js'
import { sizeOfCount, sizeOfPage, sizeOfProfile } from './turns/size.js'
import type { QuerySize } from './turns/turn.js'
import { Turns } from './turns/turns.js'
import type { Held, TurnsOptions } from './turns/turns.js'

export interface EngineOptions extends SandboxOptions, TurnsOptions {
  /** Called with a version that must not be read any more, and the reason for the owner. */
  readonly withdraw?: (version: Version, reason: string) => void
  /** Queries read files only after this verifies them; without it, files need only be unchanged. */
  readonly checks?: FileChecks
}

/** The number of times a query runs if a fatal error of another query breaks its instance. */
const runsMax = 2
/**
 * After this many fatal errors a version is not read any more: a damaged file harms other queries.
 */
const breaksMax = 3
type Work<T> = (session: Session) => Promise<T>

/**
 * The engine over two DuckDB instances in this process: one whose threads share the work of a
 * query, and one with a single thread, for small queries. With several threads, the thread that
 * waits for a query polls without a pause, which costs a core.
 */
export class DuckDbEngine implements Engine {
  readonly #options: EngineOptions
  readonly #turns: Turns
  readonly #solo: ServingInstance
  readonly #shared: ServingInstance
  /** Queries that run or wait, each with its own controller; null once closed. */
  #running: Map<AbortController, Promise<unknown>> | null = new Map()
  /** How many times reading each version has broken an instance. */
  readonly #breaks = new WeakMap<Version, number>()
  readonly #paths = new PlainPaths()

  private constructor(options: EngineOptions) {
    this.#options = options
    this.#turns = new Turns(options, () => performance.now())
    const { soloBytes, sharedBytes } = splitMemory(options.memoryLimitBytes)
    this.#solo = new ServingInstance({ ...options, memoryLimitBytes: soloBytes, threads: 1 })
    this.#shared = new ServingInstance({ ...options, memoryLimitBytes: sharedBytes })
  }

  /** @throws service_unavailable when DuckDB can't be started with these options */
  static async open(options: EngineOptions): Promise<DuckDbEngine> {
    const engine = new DuckDbEngine(options)
    try {
      for (const serving of [engine.#solo, engine.#shared]) await serving.run(async () => {})
      return engine
    } catch (cause) {
      await engine.close()
      throw cause
    }
  }

  read(question: Question, options: ReadOptions): Promise<Rows> {
    const choice = chooseForPage(question)
    return this.#query(filesOf(choice), sizeOfPage(choice), options, (held) =>
      question.format === 'parquet'
        ? this.#readFile(question, choice, held)
        : this.#readRows(question, choice, held),
    )
  }

  count(version: Version, predicates: readonly Predicate[], options: ReadOptions): Promise<number> {
    const choice = chooseForTotal(version, predicates, 0)
    const size = sizeOfCount(choice)
    return this.#query(filesOf(choice), size, options, ({ signal }) =>
      this.#runPlanned(version, planOf(size), async (session) => {
        let rows = 0
        for (const scan of planCount(choice)) {
          requireVerified(filesUpTo(scan), this.#checks)
          const statement = compileCount(this.#paths.scan(scan), predicates)
          rows += Number((await session.run(statement, signal))[0]?.[0])
          await requireUnchanged(filesUpTo(scan), this.#checks)
        }
        return rows
      }),
    )
  }

  profile(question: ProfileQuestion, options: ReadOptions): Promise<Profile> {
    const { version, predicates, columns } = question
    const choice = chooseForTotal(version, predicates, columns.length)
    const size = sizeOfProfile(choice, question)
    const files = filesOf(choice)
    return this.#query(files, size, options, ({ signal }) =>
      this.#runPlanned(version, planOf(size), async (session) => {
        requireVerified(files(), this.#checks)
        const run = (statement: Statement) => session.run(statement, signal)
        const profile = await profileColumns(question, this.#paths.scan(choice), run)
        await requireUnchanged(files(), this.#checks)
        return profile
      }),
    )
  }

  async close(): Promise<void> {
    const running = this.#running ?? new Map<AbortController, Promise<unknown>>()
    this.#running = null
    for (const stop of running.keys()) stop.abort(stopping())
    await Promise.allSettled(running.values())
    await Promise.all([this.#solo.close(), this.#shared.close()])
    this.#paths.close()
  }

  #readRows(
    question: Question,
    choice: Choice,
    { signal, grow, isBesideLarge }: Held,
  ): Promise<Rows> {
    return readPieces(question, this.#reading(choice, grow), async (piece, limit) => {
      const statement = compileRead(piece, question, limit)
      const run = (session: Session) => session.run(statement, signal)
      // Large work keeps the shared threads busy, and a look-up would wait for them.
      const plan = isBesideLarge() ? 'solo' : piece.plan
      return rowsOf(piece, await this.#runPlanned(question.version, plan, run))
    })
  }

  /** Runs on the instance of the first piece, because one instance must hold all rows. */
  #readFile(question: Question, choice: Choice, { signal, grow }: Held): Promise<Rows> {
    const { version, after, limit } = question
    const [first] = planPage(choice, { after, missing: () => limit + 1 })
    return this.#runPlanned(version, first?.plan ?? 'solo', (session) => {
      const run = (statement: Statement) => session.runOnce(statement, signal)
      return readPageFile(question, pagesFolder(session), this.#reading(choice, grow), run)
    })
  }

  /** Runs work again on the shared instance if the solo instance runs out of memory. */
  async #runPlanned<T>(version: Version, plan: Piece['plan'], work: Work<T>): Promise<T> {
    if (plan !== 'solo') return this.#run(version, this.#shared, work)
    try {
      return await this.#run(version, this.#solo, work)
    } catch (cause) {
      if (readFailure(cause).type !== 'Out of Memory') throw cause
      return this.#run(version, this.#shared, work)
    }
  }

  /** Waits for a turn and runs the work until it ends or is stopped. */
  #query<T>(
    files: () => readonly DataFile[],
    size: QuerySize,
    options: ReadOptions,
    work: (held: Held) => Promise<T>,
  ): Promise<T> {
    return withController(options.signal, async (stop) => {
      const running = this.#running
      if (!running) throw stopping()
      const { signal } = stop
      const verified = { checks: this.#checks, files, signal }
      const result = onVerified(verified, () => this.#turns.run({ ...options, signal }, size, work))
      running.set(stop, result)
      try {
        return await result
      } catch (cause) {
        throw stop.signal.aborted ? stop.signal.reason : this.#failure(cause)
      } finally {
        running.delete(stop)
      }
    })
  }

  get #checks(): FileChecks | null {
    return this.#options.checks ?? null
  }

  #reading(choice: Choice, grow: Held['grow']): ReadContext {
    return { choice, checks: this.#checks, paths: this.#paths, grow }
  }

  #failure(cause: unknown): unknown {
    const isOfFiles = cause instanceof ChangedFileError || cause instanceof UnverifiedError
    if (!isOfFiles) return serviceErrorOf(this.#paths.inOwnNames(cause), this.#options.folders)
    const detail = 'This dataset is being replaced. Try again shortly.'
    return new ServiceError('service_unavailable', detail, { cause, retryAfterSeconds: 1 })
  }

  /** Runs work on the instance; retries on a new one after a fatal error of another query. */
  async #run<T>(version: Version, serving: ServingInstance, work: Work<T>): Promise<T> {
    for (let runs = 1; ; runs++) {
      const breaks = this.#breaks.get(version) ?? 0
      if (breaks >= breaksMax) throw quarantined()
      try {
        return await serving.run(work)
      } catch (cause) {
        const { type } = readFailure(cause)
        if (type === 'INTERNAL') this.#noteBreak(version, breaks + 1)
        if (type !== 'FATAL' || runs === runsMax) throw cause
      }
    }
  }

  #noteBreak(version: Version, breaks: number): void {
    this.#breaks.set(version, breaks)
    const reason = `reading it broke the query engine ${breaks} times`
    if (breaks === breaksMax) this.#options.withdraw?.(version, reason)
  }
}

/** Lists the files that a query may read, only when called. */
function filesOf({ files }: Choice): () => readonly DataFile[] {
  return () => files.map(({ file }) => file)
}

function planOf(size: QuerySize): Piece['plan'] {
  return size === 'small' ? 'solo' : 'together'
}

/** A folder below the temp folder, the only place where the sandbox lets DuckDB write. */
function pagesFolder({ tempFolder }: Session): string {
  if (tempFolder === null) throw new TypeError('an engine without a temp folder writes no files')
  return join(tempFolder, 'pages')
}

function quarantined(): ServiceError {
  const detail = 'This dataset is withdrawn for now: a part of it is damaged.'
  return new ServiceError('service_unavailable', detail, { retryAfterSeconds: 60 })
}

function stopping(): ServiceError {
  const detail = 'The service is stopping.'
  return new ServiceError('service_unavailable', detail, { retryAfterSeconds: 5 })
}
