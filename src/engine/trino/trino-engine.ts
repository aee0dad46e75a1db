import type { Clock } from '../../clock.js'
import type { Predicate } from '../../columns/predicate.js'
import type { KeyPosition, Question } from '../../query/question.js'
import type { Summary } from '../../query/summary.js'
import type { Top } from '../../query/top.js'
import type { Version } from '../../versions/version.js'
import { isOfKey } from '../duckdb/choice.js'
import type { QuerySize } from '../duckdb/turns/turn.js'
import { Turns } from '../duckdb/turns/turns.js'
import type { TurnsOptions } from '../duckdb/turns/turns.js'
import type { Engine, Profile, ProfileQuestion, ReadOptions, Rows, Summarized } from '../engine.js'
import { RunningQueries } from '../running-queries.js'
import { compileCount, compilePage, compileTop, tableOf } from './compile.js'
import { profileColumns } from './profile.js'
import { runSummary } from './run-summary.js'
import type { RunTrino, TrinoRow } from './statement.js'
import { KeyError, TrinoClient } from './trino-client.js'
import type { TrinoLogin } from './trino-client.js'
import { serviceErrorOf } from './trino-failure.js'

export interface TrinoEngineOptions extends Omit<TurnsOptions, 'isForLarge'> {
  readonly login: TrinoLogin
}

/**
 * The engine over tables of Trino clusters. Look-ups and pages have slots; summaries, tops and
 * profiles have half as many of their own.
 */
export class TrinoEngine implements Engine {
  readonly #login: TrinoLogin
  readonly #clock: Clock
  readonly #clients = new Map<string, TrinoClient>()
  readonly #pages: Turns
  readonly #scans: Turns
  readonly #running = new RunningQueries()

  constructor({ login, ...options }: TrinoEngineOptions) {
    this.#login = login
    this.#clock = options.clock
    this.#pages = new Turns(options)
    const slots = Math.max(Math.floor(options.slots / 2), 1)
    this.#scans = new Turns({ ...options, slots, isForLarge: true })
  }

  read(question: Question, options: ReadOptions): Promise<Rows> {
    const { version, predicates, after, limit } = question
    if (after && !('key' in after)) throw new TypeError('a position in files is not one by key')
    return this.#page(version, predicates, options, async (run) => {
      return keyedRows(version, await run(compilePage(question, after)), limit)
    })
  }

  count(version: Version, predicates: readonly Predicate[], options: ReadOptions): Promise<number> {
    return this.#page(version, predicates, options, async (run) => {
      const [[count] = []] = await run(compileCount(version, predicates))
      return Number(count)
    })
  }

  profile(question: ProfileQuestion, options: ReadOptions): Promise<Profile> {
    return this.#scan(question.version, options, (run) => profileColumns(question, run))
  }

  summarize(summary: Summary, options: ReadOptions): Promise<Summarized> {
    return this.#scan(summary.version, options, (run) => runSummary(summary, run))
  }

  top(top: Top, options: ReadOptions): Promise<Rows> {
    return this.#scan(top.version, options, async (run) => {
      return keyedRows(top.version, await run(compileTop(top)), top.limit)
    })
  }

  async close(): Promise<void> {
    await this.#running.stop()
  }

  /** The turns of look-ups and pages, and those of summaries, tops and profiles. */
  get turns(): Readonly<Record<'pages' | 'summaries', Turns>> {
    return { pages: this.#pages, summaries: this.#scans }
  }

  /** The client of a cluster by its address. @throws Error for a login that can't be sent there */
  clientOf(url: string): TrinoClient {
    const client = this.#clients.get(url) ?? new TrinoClient(url, this.#login, this.#clock)
    this.#clients.set(url, client)
    return client
  }

  #page<T>(
    version: Version,
    predicates: readonly Predicate[],
    options: ReadOptions,
    work: (run: RunTrino) => Promise<T>,
  ): Promise<T> {
    const hasKey = predicates.some((predicate) => isOfKey(version, predicate))
    return this.#query(version, hasKey ? 'lookUp' : 'large', options, this.#pages, work)
  }

  #scan<T>(
    version: Version,
    options: ReadOptions,
    work: (run: RunTrino) => Promise<T>,
  ): Promise<T> {
    return this.#query(version, 'large', options, this.#scans, work)
  }

  /** Waits for a turn and runs the work until it ends or is stopped. */
  #query<T>(
    version: Version,
    size: QuerySize,
    options: ReadOptions,
    turns: Turns,
    work: (run: RunTrino) => Promise<T>,
  ): Promise<T> {
    const ask = (signal: AbortSignal) => {
      const client = this.clientOf(tableOf(version).url)
      return turns.run({ ...options, signal }, size, ({ signal: held }) =>
        work((statement) => client.run(statement, held)),
      )
    }
    return this.#running.run(options.signal, ask, serviceErrorOf)
  }
}

/** A cursor holds no more bytes of key. */
const keyBytesMax = 6000

/**
 * The rows of a page. Two rows with the same key would be lost or repeated between two pages.
 * @throws KeyError for such rows, and for a key that no cursor can hold
 */
function keyedRows(version: Version, found: readonly TrinoRow[], limit: number): Rows<KeyPosition> {
  const rows = found.map(([text, ...key]) => ({
    encoded: Buffer.from(text ?? ''),
    position: { key },
  }))
  const keys = rows.map(({ position }) => JSON.stringify(position.key))
  const names = version.key.map(({ name }) => name).join(', ')
  if (keys.some((key, index) => key === keys[index + 1])) {
    throw new KeyError(`two rows have the same key (${names}), so they have no order`)
  }
  if (keys.some((key) => Buffer.byteLength(key) > keyBytesMax)) {
    throw new KeyError(`a row has a key (${names}) of more than ${keyBytesMax} bytes`)
  }
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
}
