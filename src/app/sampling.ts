import { duckDbSampler } from '../engine/duckdb/open/read-sample.js'
import type { WithSample } from '../versions/sample.js'
import { smallShare } from './reading.js'

/** Samples Parquet files with a share of this memory; null = the default. */
export function samplerFor(memoryLimitBytes: number | null): WithSample {
  return duckDbSampler(smallShare(memoryLimitBytes))
}
