import type { ServingInstance } from './serving.js'

/** All DuckDB instances of an engine: for small, larger and scanning queries. */
export class Instances {
  readonly #all: readonly ServingInstance[]

  constructor(all: readonly ServingInstance[]) {
    this.#all = all
  }

  /** Starts those that wait for their first question, which then finds all that they need open. */
  start(): void {
    // One that can't be started now is started by its first question.
    for (const each of this.#all) each.run(async () => {}).catch(() => undefined)
  }

  /** The bytes that each holds. */
  memoryBytes(): Promise<readonly number[]> {
    return Promise.all(this.#all.map((each) => each.memoryBytes()))
  }

  /**
   * Drops what DuckDB keeps of files. It would keep those that are replaced, too, up to its memory
   * limit; those that are still read cost one read more.
   * @throws service_unavailable when one can't be used
   */
  async forgetFiles(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.forgetFiles()))
  }

  /** Closes each when its last work ends. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.close()))
  }
}
