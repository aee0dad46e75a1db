import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import type { Clock } from '../../clock.js'
import type { UpdateResult } from './update.js'

export interface WatcherOptions {
  readonly clock: Clock
  /** Checks the disk and takes changes; `unsettled` asks for another check soon. */
  readonly check: () => Promise<UpdateResult>
  /** The folders to watch; read after each check. */
  readonly folders: () => readonly string[]
  /** The duration of a check, in milliseconds; the pause after it depends on it. */
  readonly checkMs: () => number
  /** Reports a check that failed. */
  readonly report: (cause: unknown) => void
}

/** Between an event and the check, to check once for a copy of many files. */
const eventDelayMs = 100
/** Between two checks of files that are being written. */
const settleMs = 250
/** Between checks without events: network mounts send none. */
const pollMs = 5000
/** Checks of thousands of files are slow: the pause is this many times as long. */
const busyFactor = 4
const idleFactor = 200
const foldersMax = 4096

/** Checks the disk after events of the file system and every few seconds, one check at a time. */
export class Watcher {
  readonly #options: WatcherOptions
  readonly #watched = new Map<string, FSWatcher>()
  #cancel: (() => void) | undefined
  /** When the next check begins, by the monotonic clock. */
  #dueAt = Infinity
  #checking: Promise<void> | null = null
  #isWanted = false
  #isClosed = false

  constructor(options: WatcherOptions) {
    this.#options = options
    this.#watchFolders()
    this.#schedule(pollMs)
  }

  /** Checks now, or once more after the running check. */
  trigger(): void {
    this.#schedule(0)
  }

  /** Ends after the running check. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    for (const watcher of this.#watched.values()) watcher.close()
    this.#watched.clear()
    await this.#checking
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return
    if (this.#checking) {
      this.#isWanted = true
      return
    }
    const dueAt = this.#options.clock.monotonicMs() + delayMs
    if (dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    this.#cancel?.()
    this.#cancel = this.#options.clock.after(delayMs, () => {
      this.#dueAt = Infinity
      this.#checking = this.#check()
    })
  }

  async #check(): Promise<void> {
    let result: UpdateResult = 'unchanged'
    this.#isWanted = false
    try {
      result = await this.#options.check()
      if (!this.#isClosed) this.#watchFolders()
    } catch (cause) {
      this.#options.report(cause)
    }
    this.#checking = null
    const checkMs = this.#options.checkMs()
    const soonMs = Math.max(settleMs, checkMs * busyFactor)
    const isSoon = this.#isWanted || result === 'unsettled'
    this.#schedule(isSoon ? soonMs : Math.max(pollMs, checkMs * idleFactor))
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
        this.#schedule(Math.max(eventDelayMs, this.#options.checkMs() * busyFactor))
      })
      watcher.on('error', () => {
        watcher.close()
        this.#watched.delete(folder)
      })
      this.#watched.set(folder, watcher)
    } catch {
      // The folder was removed, or the system has no watches left.
    }
  }
}
