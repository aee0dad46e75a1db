/** So many files are looked at together: the thread pool has other work as well. */
const atOnce = 64

/** The results of work on each item, in the items' order; a bounded number at the same time. */
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
