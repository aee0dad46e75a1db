import { duckDbSampler } from '../engine/duckdb/open/read-sample.js'
import type { WithSample } from '../versions/sample.js'
import { defaultMemory } from './reading.js'

const samplerMemoryShare = 0.25

/** Samples Parquet files beside an engine of this much memory; null = as much as by default. */
export function samplerFor(memoryLimitBytes: number | null): WithSample {
  return duckDbSampler(Math.floor((memoryLimitBytes ?? defaultMemory()) * samplerMemoryShare))
}
