import type { Clock } from '../clock.js'
import { ServiceError, unavailable } from '../errors.js'

/** The total time for the queries of one request, without the time they wait for a turn. */
export interface TimeLimit {
  readonly totalMs: number
  leftMs: number
  /** How long the request has waited for turns. */
  waitedMs: number
}

/** Creates a time limit with its whole time left. */
export function timeLimit(totalMs: number): TimeLimit {
  return { totalMs, leftMs: totalMs, waitedMs: 0 }
}

/** The error of a request that exceeded its time limit. */
export function timedOut(timeoutMs: number): ServiceError {
  return new ServiceError(
    'timeout',
    `The request did not finish in ${timeoutMs / 1000} s. Ask for less: filters that match fewer ` +
      'rows, or fewer columns, groups, measures and filter values.',
  )
}

/** The error of a query that a stop ends. */
export function stopping(): ServiceError {
  return unavailable('The service is stopping.', 5)
}

/**
 * Runs `work` under a signal that aborts when the caller's does, or after `timeoutMs`.
 * @throws timeout, or the error that `reason` makes
 */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  reason: () => ServiceError = () => timedOut(timeoutMs),
): Promise<T> {
  return withController(signal, async (deadline) => {
    const cancel = clock.after(timeoutMs, () => {
      deadline.abort(reason())
    })
    try {
      return await work(deadline.signal)
    } finally {
      cancel()
    }
  })
}

/**
 * Runs `work` with a controller that aborts when the signal does, for the same reason. It costs
 * several times less than `AbortSignal.any`, which leaves weak references behind.
 */
export async function withController<T>(
  signal: AbortSignal,
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const forward = () => {
    controller.abort(signal.reason)
  }
  if (signal.aborted) forward()
  else signal.addEventListener('abort', forward, { once: true })
  try {
    return await work(controller)
  } finally {
    signal.removeEventListener('abort', forward)
  }
}

/**
 * Returns the result of work, or rejects with the signal's reason as soon as it aborts: then the
 * work continues, and `late` takes its result.
 */
export function untilAborted<T>(
  signal: AbortSignal,
  work: Promise<T>,
  late: (result: T) => void = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      void work.then(late, () => undefined)
      reject(signal.reason)
    }
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
