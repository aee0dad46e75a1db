import type { PackProgress } from '../catalog/packer.js'
import type { Output } from './parts.js'
import { count } from './print.js'

/** How much of the whole each stage is, as measured; the sum is 1. */
const shares: readonly (readonly [PackProgress['stage'], number])[] = [
  ['sorting', 0.03],
  ['writing', 0.8],
  ['verifying', 0.17],
]
const lineEveryMs = 10_000
const barWidth = 24
/** Before that, nobody can say how long it takes. */
const timedFrom = 0.02

export interface ProgressLine {
  readonly report: (progress: PackProgress) => void
  /** Clears the line for what is printed next. */
  readonly end: () => void
}

/** How packing goes: one line written anew on a terminal, a line now and then elsewhere. */
export function progressLine(output: Output, nowMs: () => number): ProgressLine {
  const startedMs = nowMs()
  let toldMs = startedMs
  return {
    report: (progress) => {
      const now = nowMs()
      const text = progressText(output, progress, now - startedMs)
      if (output.isTTY) output.write(`\r\u001b[K${text}`)
      else if (now - toldMs >= lineEveryMs) {
        toldMs = now
        output.write(`${text}\n`)
      }
    },
    end: () => {
      if (output.isTTY) output.write('\r\u001b[K')
    },
  }
}

function progressText(output: Output, progress: PackProgress, pastMs: number): string {
  const { stage, rowsDone, rows } = progress
  const done = doneShare(progress)
  const filled = Math.round(done * barWidth)
  const bar = output.isTTY ? `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ` : ''
  const left = done < timedFrom ? '' : `, ${timeText((pastMs * (1 - done)) / done)} left`
  const amount = `${count(output, rowsDone)} of ${count(output, rows)} rows`
  return `${bar}${Math.floor(done * 100)} % ${stage} ${amount}${left}`
}

function doneShare({ stage, rowsDone, rows }: PackProgress): number {
  let before = 0
  for (const [name, share] of shares) {
    if (name === stage) return before + (rows === 0 ? 0 : share * (rowsDone / rows))
    before += share
  }
  return before
}

/** `about 40 s`, `about 7 min`. */
function timeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return seconds < 100 ? `about ${seconds} s` : `about ${Math.round(seconds / 60)} min`
}
