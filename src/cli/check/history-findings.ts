import type { Dataset } from '../../catalog/dataset.js'
import type { Column } from '../../columns/column.js'
import { yearOf } from '../../columns/history-value.js'
import { quoted } from '../../text.js'
import type { Version } from '../../versions/version.js'
import { finding } from './finding-table.js'
import type { Finding } from './finding-table.js'

/** An earlier year is a placeholder for a missing value. */
const yearMin = 1000n

/** Values of the history column that make plans count wrong years. `nowMs`: since 1970. */
export function historyFindings(
  { plans }: Dataset,
  version: Version,
  nowMs: number,
): readonly Finding[] {
  const { history, newestHistory } = version
  if (!history || version.rows === 0) return []
  const isLimited = [...plans.values()].some(({ history: years }) => years !== 'all')
  if (newestHistory === undefined) {
    const name = quoted(history.name)
    const message = `the history column ${name} is empty: plans that count years see no rows`
    return isLimited ? [finding('history_empty', message)] : []
  }
  const thisYear = BigInt(new Date(nowMs).getUTCFullYear())
  const [oldest, newest] = [
    yearOf(history, oldestOf(version, history)),
    yearOf(history, newestHistory),
  ]
  const findings: Finding[] = []
  if (newest > thisYear + 1n) {
    const message =
      `the history column ${quoted(history.name)} reaches the year ${newest}: plans count years ` +
      `back from there, so plans of the latest year see no rows of ${thisYear}; correct the rows`
    findings.push(finding('history_odd', message))
  }
  if (oldest < yearMin) {
    const message =
      `the history column ${quoted(history.name)} goes back to the year ${oldest}: only plans ` +
      'with history: all see those rows; write NULL or the right year'
    findings.push(finding('history_odd', message))
  }
  return findings
}

function oldestOf({ files, newestHistory = 0n }: Version, { name }: Column): bigint {
  return files.reduce((oldest, { bounds }) => {
    const min = bounds.get(name)?.min
    return typeof min === 'bigint' && min < oldest ? min : oldest
  }, newestHistory)
}
