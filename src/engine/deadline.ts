import { ServiceError } from '../errors.js'

/** The time that the queries of one request may run together. Waiting for a turn does not count. */
export interface TimeLimit {
  readonly totalMs: number
  leftMs: number
  /** How long the request has waited for turns. */
  waitedMs: number
}

/** A time limit of which nothing is used yet. */
export function timeLimit(totalMs: number): TimeLimit {
  return { totalMs, leftMs: totalMs, waitedMs: 0 }
}

/** The error of a request that took longer than it may. */
export function timedOut(timeoutMs: number): ServiceError {
  return new ServiceError(
    'timeout',
    `The request did not finish in ${timeoutMs / 1000} s. Add filters or select fewer columns.`,
  )
}

/**
 * Runs `work` under a signal that aborts when the caller's does, or after `timeoutMs`.
 * @throws timeout, or what `reason` makes
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  reason: () => ServiceError = () => timedOut(timeoutMs),
): Promise<T> {
  return withController(signal, async (deadline) => {
    const timer = setTimeout(() => {
      deadline.abort(reason())
    }, timeoutMs)
    try {
      return await work(deadline.signal)
    } finally {
      clearTimeout(timer)
    }
  })
}

/**
 * Runs `work` with a controller that aborts when the signal does, and with its reason. Several
 * times cheaper than `AbortSignal.any`, which leaves weak references behind.
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
