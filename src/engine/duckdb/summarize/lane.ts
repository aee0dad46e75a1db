import { ServiceError } from '../../../errors.js'
import type { Summary } from '../../../query/summary.js'
import { readFailure } from '../duckdb-failure.js'
import { ServingInstance } from '../serving.js'
import type { ServingOptions } from '../serving.js'
import { Turns } from '../turns/turns.js'
import type { TurnsOptions } from '../turns/turns.js'
import { keepsTexts } from './kept-values.js'

/** The most bytes that groups may spill. */
const spillMaxBytes = 4 * 1024 ** 3

interface LaneOptions extends ServingOptions, TurnsOptions {
  /** The memory limit of the instance for aggregates that keep texts. */
  readonly textsBytes: number
}

/**
 * Where work runs that scans many rows: instances with memory limits of their own, so that look-ups
 * and pages keep theirs. Its turns are those of all summaries and tops.
 */
export class SummaryLane {
  readonly serving: ServingInstance
  /** Spills nothing: see `keepsTexts`. */
  readonly #texts: ServingInstance
  readonly turns: Turns

  constructor({ textsBytes, ...options }: LaneOptions) {
    this.serving = new ServingInstance({ ...options, tempSizeMaxBytes: spillMaxBytes })
    this.#texts = new ServingInstance({ ...options, memoryLimitBytes: textsBytes, spills: false })
    this.turns = new Turns({ ...options, slots: half(options.slots), isForLarge: true })
  }

  get instances(): readonly ServingInstance[] {
    return [this.serving, this.#texts]
  }

  /** The instance for a summary of many rows. */
  servingOf({ measures }: Summary): ServingInstance {
    return measures.some(({ aggregate }) => keepsTexts(aggregate)) ? this.#texts : this.serving
  }
}

/** @throws timeout if the work needs more memory than the lane has */
export async function withinMemory<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (readFailure(cause).type !== 'Out of Memory') throw cause
    const detail = 'There are too many groups or values: add filters or group by fewer columns.'
    throw new ServiceError('timeout', detail, { cause })
  }
}

function half(count: number): number {
  return Math.max(Math.floor(count / 2), 1)
}
