import { ServiceError } from '../errors.js'

/**
 * Runs `work` under a signal that aborts when the caller's does, or after `timeoutMs`.
 * @throws timeout
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController()
  const timer = setTimeout(() => {
    deadline.abort(
      new ServiceError(
        'timeout',
        `The request did not finish in ${timeoutMs / 1000} s. Add filters or select fewer columns.`,
      ),
    )
  }, timeoutMs)
  try {
    return await work(AbortSignal.any([signal, deadline.signal]))
  } finally {
    clearTimeout(timer)
  }
}
