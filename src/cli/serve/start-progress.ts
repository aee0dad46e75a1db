import type { Logger } from 'pino'
import type { Clock } from '../../clock.js'
import type { Output } from '../parts.js'
import { count } from '../print.js'

/** How long a start says nothing. */
const silenceMs = 2000
const everyMs = 5000

interface StartProgressParts {
  readonly logger: Pick<Logger, 'info'>
  /** Where a person reads; null = only the log says it. */
  readonly output: Output | null
  readonly clock: Clock
}

/** Says what a slow start does. */
export interface StartProgress {
  /** `opened` of all datasets are open. */
  readonly report: (opened: number, datasets: number) => void
  readonly end: () => void
}

/** Says after two seconds what a start does, and again every five seconds until its end. */
export function startProgress(parts: StartProgressParts): StartProgress {
  const { logger, output, clock } = parts
  let progress: { readonly opened: number; readonly datasets: number } | null = null
  const say = () => {
    if (!progress) return
    const { opened, datasets } = progress
    logger.info({ opened, datasets }, 'opening datasets')
    output?.write(`opening datasets: ${count(output, opened)} of ${count(output, datasets)}\n`)
  }
  let stop = clock.after(silenceMs, () => {
    stop = clock.every(everyMs, say)
    say()
  })
  return {
    report: (opened, datasets) => {
      progress = { opened, datasets }
    },
    end: () => stop(),
  }
}
