import { duckDbTableWriter } from '../engine/duckdb/import/write-table.js'
import { duckDbSampler } from '../engine/duckdb/open/read-sample.js'
import { defaultMemory } from '../machine.js'
import type { WithSample } from '../versions/sample.js'
import { importTable } from '../versions/tables/import-table.js'
import type { ImportTable } from '../versions/tables/import-table.js'
import { smallShare } from './reading.js'

/** Samples Parquet files with a share of this memory; null = the default. */
export function samplerFor(memoryLimitBytes: number | null): WithSample {
  return duckDbSampler(smallShare(memoryLimitBytes))
}

/** Imports in this process, beside a server. */
export const importHere: ImportTable = (order, { signal, report }) =>
  importTable(order, duckDbTableWriter(defaultMemory() / 2), (rowsDone) => {
    signal.throwIfAborted()
    report(rowsDone)
  })
