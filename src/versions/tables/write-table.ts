import type { StagedTable } from './stage-table.js'

/**
 * Writes a staged table as one new Parquet file. Both are in the same folder, where the engine may
 * also keep temporary data. The engine implements this; `main.ts` passes it in.
 * @throws the signal's reason; Error when the file can't be written
 */
export type WriteTable = (
  table: StagedTable,
  target: string,
  options: {
    readonly signal: AbortSignal
    /** Null = the default. */
    readonly memoryLimitBytes: number | null
  },
) => Promise<void>
