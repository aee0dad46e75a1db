import type { InspectProgress } from '../catalog/inspector.js'
import type { CliParts } from './parts.js'
import { count } from './print.js'

/** Says on stderr how far a long look has come. */
export interface ProgressReport {
  readonly report: (progress: InspectProgress) => void
  /** Takes the bar away. */
  readonly end: () => void
}

const barEveryMs = 100
const lineEveryMs = 10_000
const barCells = 20
/** Sooner there is nothing to reckon the rest by. */
const reckonedShareMin = 0.02
const clearLine = '\r\u001b[2K'

/** A bar on a terminal, elsewhere a line every ten seconds; nothing where `isSilent`. */
export function progressReport(
  { stderr, now }: CliParts,
  name: string,
  isSilent: boolean,
): ProgressReport {
  if (isSilent) return { report: () => {}, end: () => {} }
  const isTerminal = stderr.isTTY === true
  const startedMs = now()
  let saidMs = isTerminal ? -Infinity : startedMs
  const report = (progress: InspectProgress) => {
    const nowMs = now()
    if (nowMs - saidMs < (isTerminal ? barEveryMs : lineEveryMs)) return
    saidMs = nowMs
    const share = progress.rows === 0 ? 1 : progress.rowsDone / progress.rows
    const bar = isTerminal ? `${barOf(share)} ` : ''
    const rows = `${count(stderr, progress.rowsDone)} of ${count(stderr, progress.rows)} rows`
    const left = leftText(share, nowMs - startedMs)
    const text = `${name}: ${bar}${Math.floor(share * 100)} % (${rows}${left})`
    stderr.write(isTerminal ? `${clearLine}${text}` : `${text}\n`)
  }
  return { report, end: () => isTerminal && stderr.write(clearLine) }
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
