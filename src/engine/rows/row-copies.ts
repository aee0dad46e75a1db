import type { Clock } from '../../clock.js'
import type { Predicate } from '../../columns/predicate.js'
import type { StoredFile, Version } from '../../versions/version.js'
import type { ReadOptions, Row } from '../engine.js'
import type { FilePosition } from '../../query/question.js'
import type { FileQuestion, FileRows } from '../file-question.js'
import { DamagedCopyError } from './layout.js'
import { OpenCopies } from './open-copies.js'
import { Pace, TooManyRowsError } from './pace.js'
import { planRows, planSearch } from './plan.js'
import type { CopyOfFile, RowPlan } from './plan.js'
import { RowReader } from './row-reader.js'
import { Splicer } from './splice.js'

interface RowCopiesParts {
  readonly clock: Clock
  /** Called with a copy that does not hold what was written. */
  readonly onDamage: (file: StoredFile) => void
}

/** The rows that look-ups found, by the file's index in the version. */
export type FoundRows = ReadonlyMap<number, readonly number[]>

/** Of more rows than this, DuckDB reads the files as if none had been looked up. */
const foundMax = 2000

/** A copy that can't be used now; the files have the same rows. */
class UnusableCopy extends Error {}

/** Answers questions from row copies, on the event loop in short turns. */
export class RowCopies {
  readonly #parts: RowCopiesParts
  readonly #open = new OpenCopies()
  /** Conditions that are the engine's, because look-ups find too many rows. */
  readonly #tooMany = new WeakSet<readonly Predicate[]>()

  constructor(parts: RowCopiesParts) {
    this.#parts = parts
  }

  /**
   * A page of rows; null if another form must be read: the question is not of look-up columns
   * alone, or leaves out most of the rows that these find, or a copy is missing or damaged.
   * @throws the signal's reason; timeout
   */
  async read(question: FileQuestion, options: ReadOptions): Promise<FileRows | null> {
    const plan = planRows(question)
    if (!plan) return null
    return this.#orNull(question.predicates, () =>
      this.#readPage(plan, question, this.#paceOf(options)),
    )
  }

  /**
   * The rows that may meet the conditions, where look-ups leave few of them; null where they don't.
   * @throws the signal's reason; timeout
   */
  async find(
    version: Version,
    predicates: readonly Predicate[],
    options: ReadOptions,
  ): Promise<FoundRows | null> {
    const plan = this.#tooMany.has(predicates) ? null : planSearch(version, predicates)
    return plan && this.#orNull(predicates, () => this.#findAll(plan, this.#paceOf(options)))
  }

  /** Closes a copy that is about to be removed. */
  forget(path: string): void {
    this.#open.forget(path)
  }

  close(): Promise<void> {
    return this.#open.close()
  }

  async #readPage(
    plan: RowPlan,
    { columns, after, limit }: FileQuestion,
    pace: Pace,
  ): Promise<FileRows> {
    const splicer = new Splicer(columns)
    const rows: Row<FilePosition>[] = []
    for (const file of plan.files) {
      if (after && file.index < after.file) continue
      const from = after?.file === file.index ? after.row + 1 : 0
      const hasMore = await this.#with(file, plan, pace, async (reader) => {
        // One extra row shows whether more rows follow; it is only counted.
        for await (const numbers of reader.numbers(from, () => limit - rows.length + 1)) {
          for (let rest = numbers; rest.length > 0;) {
            const missing = limit - rows.length
            if (missing === 0) return true
            await reader.read(rest.slice(0, missing), splicer, rows)
            rest = rest.slice(missing)
          }
        }
        return false
      })
      if (hasMore) return { rows, hasMore }
    }
    return { rows, hasMore: false }
  }

  async #findAll(plan: RowPlan, pace: Pace): Promise<FoundRows | null> {
    const found = new Map<number, readonly number[]>()
    let amount = 0
    for (const file of plan.files) {
      const rows: number[] = []
      const isFew = await this.#with(file, plan, pace, async (reader) => {
        for await (const numbers of reader.numbers(0, () => foundMax + 1 - amount)) {
          amount += numbers.length
          if (amount > foundMax) return false
          for (const number of numbers) rows.push(number)
        }
        return true
      })
      if (!isFew) return null
      if (rows.length > 0) found.set(file.index, rows)
    }
    return found
  }

  /** @throws UnusableCopy if the copy can't decide the conditions, is damaged or can't be opened */
  async #with<T>(
    file: CopyOfFile,
    plan: RowPlan,
    pace: Pace,
    work: (reader: RowReader) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#open.with(file.copy, (copy) => {
        const reader = RowReader.of(file, copy, plan, pace)
        if (!reader) throw new UnusableCopy('it does not decide every condition')
        return work(reader)
      })
    } catch (cause) {
      return this.#refuse(file, cause)
    }
  }

  /** @throws UnusableCopy if the copy's file is the cause; else the cause */
  #refuse({ copy }: CopyOfFile, cause: unknown): never {
    if (!isOfDisk(cause)) throw cause
    if (!isShortage(cause)) this.#parts.onDamage(copy)
    throw new UnusableCopy('a row copy can not be read', { cause })
  }

  async #orNull<T>(predicates: readonly Predicate[], work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof TooManyRowsError) this.#tooMany.add(predicates)
      else if (!(cause instanceof UnusableCopy)) throw cause
      return null
    }
  }

  #paceOf({ signal, timeLimit }: ReadOptions): Pace {
    return new Pace({ clock: this.#parts.clock, signal, ...(timeLimit && { timeLimit }) })
  }
}

/** Whether the copy's file is the cause: it is damaged, or the system does not read it. */
function isOfDisk(cause: unknown): boolean {
  if (cause instanceof DamagedCopyError) return true
  const { code, syscall } = cause as NodeJS.ErrnoException
  return code !== undefined && syscall !== undefined
}

/** Whether the process has too many files open, or too little memory, at this moment. */
function isShortage(cause: unknown): boolean {
  const { code = '' } = cause as NodeJS.ErrnoException
  return ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'].includes(code)
}
