import { duckDbTableWriter } from '../engine/duckdb/import/write-table.js'
import { duckDbSampler } from '../engine/duckdb/open/read-sample.js'
import { defaultMemory } from '../machine.js'
import type { WithSample } from '../versions/sample.js'
import type { WriteTable } from '../versions/tables/write-table.js'
import { smallShare } from './reading.js'

/** Samples Parquet files with a share of this memory; null = the default. */
export function samplerFor(memoryLimitBytes: number | null): WithSample {
  return duckDbSampler(smallShare(memoryLimitBytes))
}

/** Writes tables of other formats as Parquet, beside a server. */
export function tableWriter(): WriteTable {
  return duckDbTableWriter(defaultMemory() / 2)
}
