/**
 * What the process needs beside what DuckDB counts, less the 300 MB that it may take above the
 * limit: rows of running queries, a third of the footers that DuckDB keeps, and memory that is free
 * but not returned. It depends on the queries and the files more than on the limit.
 */
const uncountedBytesMax = 400e6
/** Smaller limits make fewer and smaller reads. */
const uncountedShareMax = 0.25
/** A share of the rest; the shared instance gets the other three quarters. */
const soloShare = 0.25

/** Divides the memory that the engine may use between its two instances, in bytes. */
export function splitMemory(limitBytes: number): { soloBytes: number; sharedBytes: number } {
  const uncounted = Math.min(uncountedBytesMax, limitBytes * uncountedShareMax)
  const countedBytes = Math.floor(limitBytes - uncounted)
  const soloBytes = Math.floor(countedBytes * soloShare)
  return { soloBytes, sharedBytes: countedBytes - soloBytes }
}
