import type { CliParts, Output } from './parts.js'
import { count } from './print.js'

/** The progress of a long task. */
interface Progress {
  /** The task, in a word or two. */
  readonly what: string
  readonly rowsDone: number
  /** Null if the total is unknown. */
  readonly rows: number | null
  /** What is counted; left out = rows. */
  readonly unit?: 'rows' | 'MB'
  /** Share of the whole task, 0 to 1; left out = the share of rows. */
  readonly share?: number
}

/** Reports progress on stderr. */
interface ProgressReport {
  readonly report: (progress: Progress) => void
  /** Removes the bar. */
  readonly end: () => void
}

const barEveryMs = 100
const lineEveryMs = 10_000
const barCells = 20
/** Before this share, the time left can't be estimated. */
const estimatedShareMin = 0.02
const clearLine = '\r\u001b[2K'

/** A bar with the time left on a terminal, else a line every ten seconds; none if `isSilent`. */
export function progressReport({ stderr, clock }: CliParts, isSilent: boolean): ProgressReport {
  if (isSilent) return { report: () => {}, end: () => {} }
  const isTerminal = stderr.isTTY === true
  const startedMs = clock.monotonicMs()
  let writtenMs = isTerminal ? -Infinity : startedMs
  const report = (progress: Progress) => {
    const nowMs = clock.monotonicMs()
    if (nowMs - writtenMs < (isTerminal ? barEveryMs : lineEveryMs)) return
    writtenMs = nowMs
    const text = progressText(stderr, progress, nowMs - startedMs)
    stderr.write(isTerminal ? `${clearLine}${text}` : `${text}\n`)
  }
  return { report, end: () => isTerminal && stderr.write(clearLine) }
}

function progressText(stderr: Output, progress: Progress, passedMs: number): string {
  const { what, rowsDone, rows, unit = 'rows' } = progress
  const done = count(stderr, rowsDone)
  if (rows === null) {
    const speed = count(stderr, Math.round((rowsDone / Math.max(passedMs, 1)) * 1000))
    return `${what}: ${done} (${speed} a second)`
  }
  // The dataset may have more rows now than when they were counted.
  const { share = rows === 0 ? 1 : Math.min(1, rowsDone / rows) } = progress
  const bar = stderr.isTTY ? `${barOf(share)} ` : ''
  const amount = `${done} of ${count(stderr, rows)} ${unit}${leftText(share, passedMs)}`
  return `${what}: ${bar}${Math.floor(share * 100)} % (${amount})`
}

function barOf(share: number): string {
  const full = Math.floor(share * barCells)
  return `[${'#'.repeat(full)}${'.'.repeat(barCells - full)}]`
}

function leftText(share: number, passedMs: number): string {
  if (share < estimatedShareMin || share >= 1) return ''
  const seconds = Math.ceil((passedMs * (1 - share)) / share / 1000)
  return `, ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`
}
