import type { CliParts, Output } from './parts.js'
import { count } from './print.js'

/** How far long work has come. */
interface Progress {
  /** What is being done, in a word or two. */
  readonly what: string
  readonly rowsDone: number
  /** Null where nobody knows. */
  readonly rows: number | null
  /** Of the whole work, 0 to 1; by the rows when left out. */
  readonly share?: number
}

/** Says on stderr how far long work has come. */
interface ProgressReport {
  readonly report: (progress: Progress) => void
  /** Takes the bar away. */
  readonly end: () => void
}

const barEveryMs = 100
const lineEveryMs = 10_000
const barCells = 20
/** Sooner there is nothing to reckon the rest by. */
const reckonedShareMin = 0.02
const clearLine = '\r\u001b[2K'

/** A bar with the time left on a terminal, elsewhere a line every ten seconds; none if `isSilent`. */
export function progressReport({ stderr }: CliParts, isSilent: boolean): ProgressReport {
  if (isSilent) return { report: () => {}, end: () => {} }
  const isTerminal = stderr.isTTY === true
  const startedMs = performance.now()
  let saidMs = isTerminal ? -Infinity : startedMs
  const report = (progress: Progress) => {
    const nowMs = performance.now()
    if (nowMs - saidMs < (isTerminal ? barEveryMs : lineEveryMs)) return
    saidMs = nowMs
    const text = progressText(stderr, progress, nowMs - startedMs)
    stderr.write(isTerminal ? `${clearLine}${text}` : `${text}\n`)
  }
  return { report, end: () => isTerminal && stderr.write(clearLine) }
}

function progressText(stderr: Output, progress: Progress, passedMs: number): string {
  const { what, rowsDone, rows } = progress
  const done = count(stderr, rowsDone)
  if (rows === null) {
    const speed = count(stderr, Math.round((rowsDone / Math.max(passedMs, 1)) * 1000))
    return `${what}: ${done} (${speed} a second)`
  }
  // Rows may have come since somebody counted them.
  const { share = rows === 0 ? 1 : Math.min(1, rowsDone / rows) } = progress
  const bar = stderr.isTTY ? `${barOf(share)} ` : ''
  const amount = `${done} of ${count(stderr, rows)} rows${leftText(share, passedMs)}`
  return `${what}: ${bar}${Math.floor(share * 100)} % (${amount})`
}

function barOf(share: number): string {
  const full = Math.floor(share * barCells)
  return `[${'#'.repeat(full)}${'.'.repeat(barCells - full)}]`
}

function leftText(share: number, passedMs: number): string {
  if (share < reckonedShareMin || share >= 1) return ''
  const seconds = Math.ceil((passedMs * (1 - share)) / share / 1000)
  return `, ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`} left`
}
