import { diskSpaceOf } from '../catalog.js'
import type { DiskSpace } from '../versions/disk-space.js'
import type { FetchProgress, ObjectSource } from '../versions/objects/object-files.js'
import { readSettings } from './command.js'
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
  readonly unit?: 'rows' | 'MB' | 'keys'
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
const bytesOfMegabyte = 1e6
const clearLine = '\r\u001b[2K'

/** A bar on a terminal, else a line every ten seconds; none if `isSilent`. */
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
  const share = rows === 0 ? 1 : Math.min(1, rowsDone / rows)
  const bar = stderr.isTTY ? `${barOf(share)} ` : ''
  const amount = `${done} of ${count(stderr, rows)} ${unit}`
  return `${what}: ${bar}${Math.floor(share * 100)} % (${amount})`
}

function barOf(share: number): string {
  const full = Math.floor(share * barCells)
  return `[${'#'.repeat(full)}${'.'.repeat(barCells - full)}]`
}

/** The objects of a command, which waits for them and shows how far they are; not if `isSilent`. */
export function commandObjects(parts: CliParts, state: string, isSilent: boolean): ObjectSource {
  const { report: show, end } = progressReport(parts, isSilent)
  const megabytes = (bytes: number) => Math.round(bytes / bytesOfMegabyte)
  const report = ({ pattern, bytes, bytesDone }: FetchProgress) => {
    const done = { rowsDone: megabytes(bytesDone), rows: megabytes(bytes), unit: 'MB' as const }
    show({ what: `fetching ${pattern}`, ...done })
    if (bytesDone === bytes) end()
  }
  const config = readSettings(['objectEndpoint', 'objectRegion'], {}, parts.environment)
  const { clock, random } = parts
  const space = commandSpace(parts, state)
  const options = { space, waitMaxMs: Infinity, report, clock, random }
  return parts.openObjects({ ...config, state }, options)
}

/** What a command may write into the state folder: as much as its server. */
export function commandSpace({ environment }: CliParts, state: string): DiskSpace {
  return diskSpaceOf(state, readSettings(['diskLimit'], {}, environment).diskLimit)
}
