import { ServiceError } from '../../../errors.js'
import { readFailure } from '../duckdb-failure.js'
import type { RunStatement } from '../run-statement.js'
import type { SandboxOptions } from '../sandbox.js'
import { ServingInstance } from '../serving.js'
import { Turns } from '../turns/turns.js'
import type { TurnsOptions } from '../turns/turns.js'

/** The most bytes that groups may spill. */
const spillMaxBytes = 4 * 1024 ** 3

/** Without look-ups and pages for so long, the lane takes all cores. */
const quietMinMs = 1000

/**
 * Where work runs that scans: an instance with a memory limit of its own and turns of its own, so
 * that look-ups and pages keep theirs, and with half of the cores while any of these run.
 */
export class SummaryLane {
  readonly serving: ServingInstance
  readonly turns: Turns

  readonly #threads: number
  readonly #others: Turns

  /** `others` are the turns of look-ups and pages. */
  constructor(options: SandboxOptions & TurnsOptions, others: Turns) {
    this.#threads = options.threads
    this.#others = others
    this.serving = new ServingInstance({
      ...options,
      changeable: ['threads'],
      tempSizeMaxBytes: spillMaxBytes,
    })
    this.turns = new Turns({ ...options, slots: half(options.slots), isForLarge: true }, () =>
      performance.now(),
    )
  }

  /**
   * Chooses how many cores the next work has. DuckDB takes a thread away only when its task ends,
   * so work beside other work of the lane leaves the number as it is.
   */
  async shareCores(run: RunStatement): Promise<void> {
    if (this.turns.runningCount > 1) return
    const isQuiet = this.#others.quietMs >= quietMinMs
    await run({ sql: `SET GLOBAL threads = ${isQuiet ? this.#threads : half(this.#threads)}` })
  }

  /** @throws timeout if the work needs more memory than the lane has */
  async withinMemory<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (cause) {
      if (readFailure(cause).type !== 'Out of Memory') throw cause
      const detail = 'There are too many groups or values: add filters or group by fewer columns.'
      throw new ServiceError('timeout', detail, { cause })
    }
  }
}

function half(count: number): number {
  return Math.max(Math.floor(count / 2), 1)
}
