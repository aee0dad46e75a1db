/**
 * What the process needs beside what DuckDB counts, less the 300 MB that it may take above the
 * limit: rows of running queries, a third of the footers that DuckDB keeps, and memory that is free
 * but not returned. It depends on the queries and the files more than on the limit.
 */
const uncountedBytesMax = 400e6
/** Smaller limits make fewer and smaller reads. */
const uncountedShareMax = 0.25
/** Shares of the rest; the shared instance gets what is left. */
const soloShare = 4 / 32
const laneShare = 5 / 32
const textsShare = 3 / 32

/** The memory of each instance, in bytes. */
interface MemoryShares {
  readonly soloBytes: number
  readonly laneBytes: number
  readonly textsBytes: number
  readonly sharedBytes: number
}

/** Divides the memory that the engine may use between its instances. */
export function splitMemory(limitBytes: number): MemoryShares {
  const uncounted = Math.min(uncountedBytesMax, limitBytes * uncountedShareMax)
  const countedBytes = Math.floor(limitBytes - uncounted)
  const soloBytes = Math.floor(countedBytes * soloShare)
  const laneBytes = Math.floor(countedBytes * laneShare)
  const textsBytes = Math.floor(countedBytes * textsShare)
  const sharedBytes = countedBytes - soloBytes - laneBytes - textsBytes
  return { soloBytes, laneBytes, textsBytes, sharedBytes }
}
