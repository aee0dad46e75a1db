import type { Column } from '../columns/column.js'
import { isAhead, newestPossible } from '../columns/history-value.js'
import { compareValues } from './choose-files.js'
import type { InspectedKey, InspectFiles } from './inspector.js'
import type { Bounds, DataFile, Version } from './version.js'

/** What is counted in the rows of a version for its owner. */
export interface RowFacts {
  /** Rows that share key and history value; null = not counted, because no rows can, or no need. */
  readonly repeats: InspectedKey | null
  /** Rows whose history value is ahead of what can be; null = not counted. */
  readonly rowsAhead: number | null
}

export const nothingCounted: RowFacts = { repeats: null, rowsAhead: null }

interface CountOptions {
  readonly inspectFiles: InspectFiles
  /** Counts keys that only rows of one file share, too. */
  readonly everyKey: boolean
  readonly nowMs: number
  readonly signal: AbortSignal
}

/**
 * Counts what a look at bounds can't tell, and only that.
 * @throws the signal's reason, or the engine's error
 */
export async function countRows(
  version: Version,
  { inspectFiles, everyKey, nowMs, signal }: CountOptions,
): Promise<RowFacts> {
  const { key, history, newestHistory: newest } = version
  if (version.table || version.rows === 0) return nothingCounted
  const columns = [...new Set([...key, ...(history ? [history] : [])])]
  const countsKeys = key.length > 0 && (everyKey || haveSharedKeys(version.files, columns))
  const hasAhead = history && newest !== undefined && isAhead(history, newest, nowMs)
  if (!countsKeys && !hasAhead) return nothingCounted
  const ahead = hasAhead
    ? [{ kind: 'gt', column: history, value: newestPossible(history, nowMs) } as const]
    : null
  const order = { version: { ...version, key: columns }, deep: false, countsKeys, subset: ahead }
  const { keys, subsetRows } = await inspectFiles(order, { signal, report: () => undefined })
  return { repeats: keys, rowsAhead: subsetRows }
}

/** More files than this are not compared with each other. */
const comparedFilesMax = 1000

/** Whether two files may have a row with the same values in these columns, by their bounds. */
function haveSharedKeys(files: readonly DataFile[], columns: readonly Column[]): boolean {
  const filled = files.filter(({ rows }) => rows > 0)
  if (filled.length > comparedFilesMax) return true
  return filled.some((left, index) =>
    filled
      .slice(index + 1)
      .some((right) => columns.every(({ name }) => overlap(left, right, name))),
  )
}

function overlap(left: DataFile, right: DataFile, name: string): boolean {
  const [one, other] = [left.bounds.get(name), right.bounds.get(name)]
  // Every value is empty: such rows share no key.
  if (one === null || other === null) return false
  return !one || !other || (!isBelow(one, other) && !isBelow(other, one))
}

function isBelow({ max }: Bounds, { min }: Bounds): boolean {
  return compareValues(max, min) < 0
}
