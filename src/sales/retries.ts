import type { Clock } from '../clock.js'
import { isLocked } from '../control/store/failures.js'

const minuteMs = 60_000

/** The longest wait between two attempts. */
export const waitMaxMs = 60 * minuteMs
/** A letter or a message is given up after this time. */
export const retryLifeMs = 3 * 24 * 60 * minuteMs
/** All tries to save an attempt take less time than a hold has left after it. */
const triesMax = 100
const retryPauseMs = 250

/**
 * When a failed attempt is repeated: after 1, 2, 4 … minutes, an hour at most, for three days; null
 * after that. Times in ms since the epoch.
 */
export function nextAttempt(since: number, now: number): number | null {
  // By the age, which doubles from attempt to attempt, also with manual attempts in between.
  const ageMs = Math.max(now - since, 0)
  const nextAt = now + Math.min(ageMs + minuteMs, waitMaxMs)
  return nextAt <= since + retryLifeMs ? nextAt : null
}

/** Retries while another process holds the lock: an attempt that is not saved is repeated. */
export async function withRetries(clock: Clock, write: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await write()
      return
    } catch (cause) {
      if (!isLocked(cause) || tries === triesMax) throw cause
    }
    await clock.sleep(retryPauseMs)
  }
}
