import type { Predicate } from '../columns/predicate.js'
import type { Question } from '../query/question.js'
import type { Summary } from '../query/summary.js'
import type { Top } from '../query/top.js'
import type { Version } from '../versions/version.js'
import type { Engine, Profile, ProfileQuestion, ReadOptions, Rows, Summarized } from './engine.js'

/** Asks the engine that a version belongs to: one for files, one for tables of clusters. */
export class DispatchEngine implements Engine {
  readonly #files: Engine
  readonly #tables: Engine

  constructor(files: Engine, tables: Engine) {
    this.#files = files
    this.#tables = tables
  }

  read(question: Question, options: ReadOptions): Promise<Rows> {
    return this.#of(question.version).read(question, options)
  }

  count(version: Version, predicates: readonly Predicate[], options: ReadOptions): Promise<number> {
    return this.#of(version).count(version, predicates, options)
  }

  profile(question: ProfileQuestion, options: ReadOptions): Promise<Profile> {
    return this.#of(question.version).profile(question, options)
  }

  summarize(summary: Summary, options: ReadOptions): Promise<Summarized> {
    return this.#of(summary.version).summarize(summary, options)
  }

  top(top: Top, options: ReadOptions): Promise<Rows> {
    return this.#of(top.version).top(top, options)
  }

  async close(): Promise<void> {
    await Promise.all([this.#files.close(), this.#tables.close()])
  }

  #of({ table }: Version): Engine {
    return table ? this.#tables : this.#files
  }
}
