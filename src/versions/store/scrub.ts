import { stat } from 'node:fs/promises'
import { dayMs } from '../../clock.js'
import type { Clock } from '../../clock.js'
import type { StoredFile } from '../version.js'
import type { FileChecks } from './file-checks.js'

interface ScrubParts {
  readonly clock: Clock
  readonly checks: FileChecks
  /** The served files, those to verify first at the beginning. */
  readonly files: () => readonly StoredFile[]
  /** The period in which every file is read again; 0 = never. */
  readonly days: number
}

/** After a start: fast, but with disk time left for queries. */
const startBytesPerSecond = 250e6
/** For files that were verified before. */
const scrubBytesPerSecondMax = 20e6
/** A file that could not be verified is retried after this time. */
const retryMs = 60_000
/** Timers can't run for more than 24 days. */
const pauseMsMax = 3_600_000

interface ScheduledFile {
  readonly file: StoredFile
  /** The pause after the previous file, by the share of this file's size in all files. */
  readonly afterMs: number
}

/**
 * Verifies every stored file: first those that this process has not read yet, then all files once
 * per period. Queries verify the files that they need themselves.
 */
export class Scrub {
  readonly #parts: ScrubParts
  #round: ScheduledFile[] = []
  #running: Promise<void> | null = null
  #isClosed = false
  #wake: () => void = () => undefined
  #isWoken = false

  constructor(parts: ScrubParts) {
    this.#parts = parts
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Reacts to a change of the served files. */
  wake(): void {
    this.#isWoken = true
    this.#wake()
  }

  /** Ends without waiting for the file that is being read. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts
    let doneAt = clock.monotonicMs()
    while (!this.#isClosed) {
      this.#isWoken = false
      const isAllVerified = await this.#verifyNew()
      const next = await this.#next()
      const dueMs = next ? doneAt + next.afterMs - clock.monotonicMs() : Infinity
      if (dueMs > 0) {
        await this.#pause(Math.min(dueMs, isAllVerified ? pauseMsMax : retryMs))
        continue
      }
      const due = this.#round.shift()
      if (due) await this.#parts.checks.verify(due.file, scrubBytesPerSecondMax)
      doneAt = clock.monotonicMs()
    }
  }

  /** False if a file could not be verified. */
  async #verifyNew(): Promise<boolean> {
    const { checks, files } = this.#parts
    let isAllVerified = true
    for (const file of files()) {
      if (this.#isClosed) return true
      if (checks.isVerified(file)) continue
      const verdict = await checks.verify(file, startBytesPerSecond)
      if (verdict === 'unsettled') isAllVerified = false
    }
    return isAllVerified
  }

  /** The next file of this round or the first of a new one; null without one. */
  async #next(): Promise<ScheduledFile | null> {
    const { files, days, checks } = this.#parts
    if (days === 0) return null
    const served = new Set(files().map(({ path }) => path))
    while (this.#round[0] && !served.has(this.#round[0].file.path)) this.#round.shift()
    if (this.#round.length === 0) {
      const hashed = files().filter(({ hash }) => hash !== null)
      const oldestFirst = [...hashed].sort(
        (left, right) => (checks.verifiedAt(left) ?? 0) - (checks.verifiedAt(right) ?? 0),
      )
      this.#round = await scheduleOf(oldestFirst, days * dayMs)
    }
    return this.#round[0] ?? null
  }

  #pause(ms: number): Promise<void> {
    if (this.#isWoken || this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
}

/** Spreads files over a period by their size. */
async function scheduleOf(
  files: readonly StoredFile[],
  periodMs: number,
): Promise<ScheduledFile[]> {
  const sizes: number[] = []
  for (const { path } of files) sizes.push((await stat(path).catch(() => null))?.size ?? 0)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return files.map((file, index) => {
    // While no file can be found, such as on a lost mount, they have equal shares.
    const share = total === 0 ? 1 / files.length : (sizes[index] ?? 0) / total
    return { file, afterMs: periodMs * share }
  })
}
