import type { Predicate } from '../../columns/predicate.js'
import { unavailable } from '../../errors.js'
import type { Changes } from '../../query/changes.js'
import type { Question } from '../../query/question.js'
import type { Summary } from '../../query/summary.js'
import type { Top } from '../../query/top.js'
import type { FileChecks } from '../../versions/store/file-checks.js'
import type { Version } from '../../versions/version.js'
import type { Engine, Profile, ProfileQuestion, ReadOptions, Rows, Summarized } from '../engine.js'
import { RunningQueries } from '../running-queries.js'
import { Breaks } from './breaks.js'
import { chooseFiles, filesToRead } from './choice.js'
import type { Choice, DuckDbForm } from './choice.js'
import { readFailure, serviceErrorOf } from './duckdb-failure.js'
import type { EngineOptions } from './engine-options.js'
import { fileQuestion } from '../file-question.js'
import type { FileQuestion, FileRows } from '../file-question.js'
import { PlainPaths } from './plain-paths.js'
import { compileRead, rowsOf } from './read/compile.js'
import { countRows } from './read/count-rows.js'
import { withIntactForms } from './read/intact-forms.js'
import { narrow } from './read/narrow.js'
import type { SearchContext } from './read/narrow.js'
import { onVerified } from './read/on-verified.js'
import { isSearchOf, readChanges } from './read/read-changes.js'
import { readPageFile } from './read/page-file.js'
import { planPage } from './read/pieces.js'
import type { Piece } from './read/pieces.js'
import { profileColumns } from './read/profile.js'
import { readPieces } from './read/read-pieces.js'
import type { ReadContext } from './read/read-pieces.js'
import { ChangedFileError, UnverifiedError, readUnchanged } from './read/unchanged.js'
import type { RunStatement, Statement } from './run-statement.js'
import { ServingInstance } from './serving.js'
import type { Session } from './session.js'
import { splitMemory } from './split-memory.js'
import { SummaryLane, withinMemory } from './summarize/lane.js'
import { runSummary } from './summarize/run-summary.js'
import type { SummaryContext } from './summarize/run-summary.js'
import { runTop } from './summarize/run-top.js'
import { isMuch, planOf, planOfScan, sizeOfCount, sizeOfPage, sizeOfProfile } from './turns/size.js'
import type { QuerySize } from './turns/turn.js'
import { Turns } from './turns/turns.js'
import type { Held } from './turns/turns.js'

type Work<T> = (session: Session) => Promise<T>

/**
 * The engine over four DuckDB instances in this process: one with a single thread, for small
 * queries, one whose threads share the work of a larger query, and two for summaries, which scan.
 * All but the first have threads of low priority, which leave the cores to small queries. The first
 * and the last spill nothing, because they run aggregates that keep texts (`keepsTexts`). All but
 * the first start before the server listens, or with their first question.
 */
export class DuckDbEngine implements Engine {
  readonly instances: readonly ServingInstance[]
  readonly #options: EngineOptions
  readonly #checks: FileChecks | null
  readonly #turns: Turns
  readonly #solo: ServingInstance
  readonly #shared: ServingInstance
  readonly #lane: SummaryLane
  readonly #running = new RunningQueries()
  readonly #breaks: Breaks
  readonly #paths = new PlainPaths()

  private constructor(options: EngineOptions) {
    this.#options = options
    this.#checks = options.checks ?? null
    this.#turns = new Turns(options)
    this.#breaks = new Breaks(options.withdraw)
    const { soloBytes, sharedBytes, laneBytes, textsBytes } = splitMemory(options.memoryLimitBytes)
    const solo = { ...options, memoryLimitBytes: soloBytes, threads: 1, spills: false }
    this.#solo = new ServingInstance(solo)
    const low = { ...options, hasLowPriority: true }
    this.#shared = new ServingInstance({ ...low, memoryLimitBytes: sharedBytes })
    this.#lane = new SummaryLane({ ...low, memoryLimitBytes: laneBytes, textsBytes })
    this.instances = [this.#solo, this.#shared, ...this.#lane.instances]
  }

  /** @throws service_unavailable when DuckDB can't be started with these options */
  static async open(options: EngineOptions): Promise<DuckDbEngine> {
    const engine = new DuckDbEngine(options)
    try {
      await engine.#solo.start()
      return engine
    } catch (cause) {
      await engine.close()
      throw cause
    }
  }

  /** Rows by look-up columns and history alone come from row copies, all others from DuckDB. */
  async read(asked: Question, options: ReadOptions): Promise<FileRows> {
    const question = fileQuestion(asked)
    const copied = await this.#options.copies?.read(question, options)
    if (copied) return copied
    return this.#asking(question, 'pages', options, (choice) =>
      this.#query(choice, sizeOfPage(choice), options, (held) =>
        question.format === 'parquet'
          ? this.#readFile(question, choice, held)
          : this.#readRows(question, choice, held),
      ),
    )
  }

  async count(
    version: Version,
    predicates: readonly Predicate[],
    options: ReadOptions,
  ): Promise<number> {
    return this.#asking({ version, predicates }, 'files', options, (choice) => {
      const size = sizeOfCount(choice)
      return this.#query(choice, size, options, (held) =>
        this.#runPlanned(version, planOf(size), held, (session) =>
          countRows(
            choice,
            this.#searching((each) => session.run(each, held.signal)),
          ),
        ),
      )
    })
  }

  async profile(question: ProfileQuestion, options: ReadOptions): Promise<Profile> {
    return this.#asking(question, 'files', options, (choice) => {
      const size = sizeOfProfile(choice, question)
      return this.#query(choice, size, options, (held) =>
        this.#runPlanned(question.version, planOf(size), held, (session) => {
          const run = (statement: Statement) => session.run(statement, held.signal)
          const read = () => profileColumns(question, this.#paths.scan(choice), run)
          return readUnchanged(filesToRead(choice), this.#checks, read)
        }),
      )
    })
  }

  async summarize(summary: Summary, options: ReadOptions): Promise<Summarized> {
    const columns = summary.groups.length + summary.measures.length
    const serving = this.#lane.servingOf(summary)
    return this.#asking(summary, 'files', options, (choice) =>
      this.#scan(choice, columns, options, serving, (context) => runSummary(summary, context)),
    )
  }

  async top(top: Top, options: ReadOptions): Promise<FileRows> {
    const { serving } = this.#lane
    return this.#asking(top, 'files', options, (choice) =>
      this.#scan(choice, 1, options, serving, (context) => runTop(top, context)),
    )
  }

  /** Nothing but the files of changes is read: they belong to no version. */
  async changes(changes: Changes, options: ReadOptions): Promise<Rows> {
    const { version, predicates, sets } = changes
    const isSearch = isSearchOf(changes)
    const isLarge = isSearch && isMuch(sets.reduce((sum, { rows }) => sum + rows, 0))
    const { serving, turns } = isLarge ? this.#lane : { serving: this.#solo, turns: this.#turns }
    const paths = this.#paths.changes(changes)
    const read = ({ signal }: Held) => {
      const run = (session: Session) => readChanges(paths, (each) => session.run(each, signal))
      return serving.run(run, () => isLarge)
    }
    const choice = { version, predicates, files: [], isByKey: false }
    return this.#query(choice, isLarge ? 'large' : 'small', options, read, turns)
  }

  async close(): Promise<void> {
    await this.#running.stop()
    await Promise.all(this.instances.map((each) => each.close()))
    this.#paths.close()
  }

  /** The turns of look-ups and pages, and those of summaries and tops. */
  get turns(): Readonly<Record<'pages' | 'summaries', Turns>> {
    return { pages: this.#turns, summaries: this.#lane.turns }
  }

  /** Works on the files of a form, and in them on the rows that look-ups find in row copies. */
  #asking<T>(
    { version, predicates }: Pick<Question, 'version' | 'predicates'>,
    form: DuckDbForm,
    options: ReadOptions,
    work: (choice: Choice) => Promise<T>,
  ): Promise<T> {
    return withIntactForms(version, async (intact) => {
      const found = await this.#options.copies?.find(intact, predicates, options)
      return work(chooseFiles(intact, predicates, form, found))
    })
  }

  /** Reads all rows that meet the predicates; where they may be many, in the lane for scans. */
  #scan<T>(
    choice: Choice,
    columns: number,
    options: ReadOptions,
    serving: ServingInstance,
    work: (context: SummaryContext) => Promise<T>,
  ): Promise<T> {
    const plan = planOfScan(choice, columns)
    const read = (held: Held) => {
      const scan: Work<T> = async (session) => {
        const run = (statement: Statement) => session.runOnce(statement, held.signal)
        const narrowed = await narrow(choice, this.#searching(run))
        const folder = () => session.filesFolder
        const context = { choice: narrowed, paths: this.#paths, folder, run }
        return readUnchanged(filesToRead(narrowed), this.#checks, () => work(context))
      }
      return withinMemory(this.#runPlanned(choice.version, plan, held, scan, serving))
    }
    return this.#query(choice, 'large', options, read, this.#lane.turns)
  }

  #readRows(question: FileQuestion, choice: Choice, held: Held): Promise<FileRows> {
    const { version } = question
    const runOn = (plan: Piece['plan'], statement: Statement) =>
      this.#runPlanned(version, plan, held, (session) => session.run(statement, held.signal))
    const reading = this.#reading(choice, held, (statement) => runOn('together', statement))
    return readPieces(question, reading, async (piece, limit) =>
      rowsOf(piece, await runOn(piece.plan, compileRead(piece, question, limit))),
    )
  }

  /** Runs on the instance of the first piece, because one instance must hold all rows. */
  #readFile(question: FileQuestion, choice: Choice, held: Held): Promise<FileRows> {
    const { version, after, limit } = question
    const [first] = planPage(choice, { after, missing: () => limit + 1 })
    return this.#runPlanned(version, first?.plan ?? 'solo', held, (session) => {
      const run = (statement: Statement) => session.runOnce(statement, held.signal)
      return readPageFile(question, session.filesFolder, this.#reading(choice, held, run), run)
    })
  }

  /** Runs work again on the instance for large work if the solo instance runs out of memory. */
  async #runPlanned<T>(
    version: Version,
    plan: Piece['plan'],
    held: Held,
    work: Work<T>,
    large = this.#shared,
  ): Promise<T> {
    const runLarge = () => this.#breaks.run(version, () => large.run(work, held.isLarge))
    // Large work keeps the shared threads busy, and a look-up would wait for them.
    if (plan !== 'solo' && !held.isBesideLarge()) return runLarge()
    try {
      return await this.#breaks.run(version, () => this.#solo.run(work))
    } catch (cause) {
      if (readFailure(cause).type !== 'Out of Memory') throw cause
      return runLarge()
    }
  }

  /** Waits for a turn and runs the work until it ends or is stopped. */
  #query<T>(
    choice: Choice,
    size: QuerySize,
    options: ReadOptions,
    work: (held: Held) => Promise<T>,
    turns = this.#turns,
  ): Promise<T> {
    const files = () => filesToRead(choice)
    const [{ clock }, checks] = [this.#options, this.#checks]
    return this.#running.run(
      options.signal,
      (signal) =>
        onVerified({ clock, checks, files, signal }, () =>
          turns.run({ ...options, signal }, size, work),
        ),
      (cause) => this.#failure(cause),
    )
  }

  #reading(choice: Choice, { grow }: Held, run: RunStatement): ReadContext {
    return { ...this.#searching(run), choice, grow }
  }

  #searching(run: RunStatement): SearchContext {
    return { checks: this.#checks, paths: this.#paths, run }
  }

  #failure(cause: unknown): unknown {
    const isOfFiles = cause instanceof ChangedFileError || cause instanceof UnverifiedError
    if (!isOfFiles) return serviceErrorOf(this.#paths.inOwnNames(cause), this.#options.folders)
    return unavailable('This dataset is being replaced. Try again shortly.', 1, cause)
  }
}
