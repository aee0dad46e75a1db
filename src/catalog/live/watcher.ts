import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import type { UpdateResult } from './update.js'

export interface WatcherOptions {
  /** Looks at the disk, and takes what is new; `unsettled`: look again soon. */
  readonly check: () => Promise<UpdateResult>
  /** Folders in which something may happen; asked for after each look. */
  readonly folders: () => readonly string[]
  /** Milliseconds that a look takes by itself: the pauses after one depend on it. */
  readonly checkMs: () => number
  /** A look that failed. */
  readonly report: (cause: unknown) => void
}

/** From an event to the look: a copy of many files is one event for us. */
const eventDelayMs = 100
/** Between two looks at something that is being written. */
const settleMs = 250
/** Without events, which network mounts do not send. */
const pollMs = 5000
/** Looks at thousands of files take their time: so many times as long is the pause after one. */
const busyFactor = 4
const idleFactor = 50
const foldersMax = 4096

/**
 * Looks when the file system says that something happened, and every few seconds all the same.
 * One look at a time.
 */
export class Watcher {
  readonly #options: WatcherOptions
  readonly #watched = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined
  /** When the next look begins, by the monotonic clock. */
  #dueAt = Infinity
  #looking: Promise<void> | null = null
  #isWanted = false
  #isClosed = false

  constructor(options: WatcherOptions) {
    this.#options = options
    this.#watchFolders()
    this.#wake(pollMs)
  }

  /** Looks now, or once more after the look under way. */
  trigger(): void {
    this.#wake(0)
  }

  /** Ends after the look under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const watcher of this.#watched.values()) watcher.close()
    this.#watched.clear()
    await this.#looking
  }

  #wake(delayMs: number): void {
    if (this.#isClosed) return
    if (this.#looking) {
      this.#isWanted = true
      return
    }
    const dueAt = performance.now() + delayMs
    if (dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#dueAt = Infinity
      this.#looking = this.#look()
    }, delayMs)
    // Never the reason that a process lives on.
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    let result: UpdateResult = 'unchanged'
    this.#isWanted = false
    try {
      result = await this.#options.check()
      if (!this.#isClosed) this.#watchFolders()
    } catch (cause) {
      this.#options.report(cause)
    }
    this.#looking = null
    const lookMs = this.#options.checkMs()
    const soonMs = Math.max(settleMs, lookMs * busyFactor)
    const isSoon = this.#isWanted || result === 'unsettled'
    this.#wake(isSoon ? soonMs : Math.max(pollMs, lookMs * idleFactor))
  }

  /** A folder that can't be watched is polled. */
  #watchFolders(): void {
    const wanted = new Set(this.#options.folders().slice(0, foldersMax))
    for (const [folder, watcher] of this.#watched) {
      if (wanted.has(folder)) continue
      watcher.close()
      this.#watched.delete(folder)
    }
    for (const folder of wanted) {
      if (!this.#watched.has(folder)) this.#watchFolder(folder)
    }
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        this.#wake(Math.max(eventDelayMs, this.#options.checkMs() * busyFactor))
      })
      watcher.on('error', () => {
        watcher.close()
        this.#watched.delete(folder)
      })
      this.#watched.set(folder, watcher)
    } catch {
      // It is gone, or the system has no watches left.
    }
  }
}
