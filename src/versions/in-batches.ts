/** Bounds the share of the thread pool. */
const atOnceUsual = 64

/**
 * The results of work on each item, in order, with a bounded number at the same time. After a
 * failure no more work begins; it is reported when none runs any more.
 */
export async function inBatches<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atOnce = atOnceUsual,
): Promise<readonly R[]> {
  const results: R[] = []
  const waiting = items.entries()
  let hasFailed = false
  const workOn = async () => {
    for (const [index, item] of waiting) {
      if (hasFailed) return
      results[index] = await work(item)
    }
  }
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, () => workOn())
  try {
    await Promise.all(workers)
  } finally {
    hasFailed = true
    await Promise.allSettled(workers)
  }
  return results
}
