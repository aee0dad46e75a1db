/** Bounds the share of the thread pool. */
const atOnce = 64

/** The results of work on each item, in order, with a bounded number at the same time. */
export async function inBatches<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  for (let first = 0; first < items.length; first += atOnce) {
    results.push(...(await Promise.all(items.slice(first, first + atOnce).map(work))))
  }
  return results
}
