import { ServiceError } from '../../../errors.js'
import { readFailure } from '../duckdb-failure.js'
import { ServingInstance } from '../serving.js'
import type { ServingOptions } from '../serving.js'
import { Turns } from '../turns/turns.js'
import type { TurnsOptions } from '../turns/turns.js'

/** The most bytes that groups may spill. */
const spillMaxBytes = 4 * 1024 ** 3

/**
 * Where work runs that scans many rows: an instance with a memory limit of its own, so that
 * look-ups and pages keep theirs. Its turns are those of all summaries and tops.
 */
export class SummaryLane {
  readonly serving: ServingInstance
  readonly turns: Turns

  constructor(options: ServingOptions & TurnsOptions) {
    this.serving = new ServingInstance({ ...options, tempSizeMaxBytes: spillMaxBytes })
    this.turns = new Turns({ ...options, slots: half(options.slots), isForLarge: true }, () =>
      performance.now(),
    )
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
