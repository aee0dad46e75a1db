import type { DiskState } from '../../versions/files/disk-state.js'
import { inodeOf } from '../../versions/files/find-files.js'

/** Files are not opened yet. */
export interface Unsettled {
  /** The text for the owner once the files have changed for too long; null before. */
  readonly reason: string | null
}

interface Attempt {
  readonly key: string
  readonly retryAt: number
  /** Failures in a row with the same files. */
  readonly failures: number
}

/** Folders whose files come and go all the time are opened anyway after this time. */
const settleMsMax = 10_000
/** A failure that may be temporary is retried after this time, then after twice as long. */
const retryMs = 60_000
const retryMsMax = 600_000

/** Decides when a dataset's files are opened: once a change has settled, and after a failure. */
export class UpdateAttempts {
  #seen: { readonly state: DiskState; readonly since: number } | null = null
  #last: Attempt | null = null

  /** Whether this state of the disk was not opened yet, or is to be opened again. */
  isDue(key: string, now: number): boolean {
    return this.#last?.key !== key || now >= this.#last.retryAt
  }

  /**
   * Returns null if the files may be opened: if two calls in a row see the same state. After
   * `settleMsMax` also if they differ, unless a file was written to in place in between: its
   * content may be torn.
   */
  unsettled(state: DiskState, now: number): Unsettled | null {
    const seen = this.#seen
    const since = seen?.since ?? now
    this.#seen = { state, since }
    if (seen?.state.key !== state.key) {
      if (!seen || now - since <= settleMsMax) return { reason: null }
      const name = writtenFile(seen.state, state)
      if (name !== null) return { reason: `${name} ${writtenReason}` }
    }
    this.#seen = null
    return null
  }

  /** Records an attempt; `mayPass` if it failed, and may succeed with the same files. */
  record(key: string, now: number, mayPass: boolean): void {
    const failures = this.isRetry(key) ? (this.#last?.failures ?? 0) : 0
    const pauseMs = Math.min(retryMs * 2 ** failures, retryMsMax)
    this.#last = mayPass
      ? { key, retryAt: now + pauseMs, failures: failures + 1 }
      : { key, retryAt: Infinity, failures }
  }

  /** Whether the last attempt was for this state of the disk. */
  isRetry(key: string): boolean {
    return this.#last?.key === key
  }

  /** Makes the next check open the files, whatever their state. */
  reset(): void {
    this.#last = null
  }
}

const writtenReason =
  'is being written to all the time. Write files under another name, then rename them.'

/** A file that is the same inode in both states, with another size or time of writing. */
function writtenFile(before: DiskState, now: DiskState): string | null {
  const known = new Map(before.files.map(({ identity }) => [inodeOf(identity), identity]))
  const written = now.files.find(({ identity }) => {
    const was = known.get(inodeOf(identity))
    return was !== undefined && was !== identity
  })
  return written?.name ?? null
}
