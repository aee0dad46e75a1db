import type { WriteStream } from 'node:tty'

/** Lines between two signs of life where no terminal can redraw one. */
const cyclesBetweenLines = 25

/** Tells how far the run is: a line drawn anew on a terminal, else a line now and then. */
export interface Progress {
  readonly step: (done: number) => void
  /** Leaves the terminal's line. */
  readonly end: () => void
}

/** Counts towards `total`; the time left is that of the cycles so far. */
export function startProgress(stream: WriteStream, total: number): Progress {
  const beganMs = performance.now()
  const lineOf = (done: number) => {
    const leftMs = ((performance.now() - beganMs) / done) * (total - done)
    return `check-charges: cycle ${done} of ${total}, about ${timeText(leftMs)} left`
  }
  const step = (done: number) => {
    if (stream.isTTY) stream.write(`\r\u001b[K${lineOf(done)}`)
    else if (done % cyclesBetweenLines === 0) stream.write(`${lineOf(done)}\n`)
  }
  const end = () => {
    if (stream.isTTY) stream.write('\r\u001b[K')
  }
  return { step, end }
}

function timeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
