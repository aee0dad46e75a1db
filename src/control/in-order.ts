/**
 * The results of `work` for each item, one after another. All at once would queue for the
 * connections of a PostgreSQL longer than a connection is waited for, and inside a transaction for
 * its only one.
 */
export async function inOrder<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await work(item))
  return results
}
