import { stat } from 'node:fs/promises'
import type { DataFile } from '../version.js'
import type { FileChecks } from './file-checks.js'

interface ScrubParts {
  readonly checks: FileChecks
  /** What is served now, the files to verify first at the beginning. */
  readonly files: () => readonly DataFile[]
  /** In how many days every file is read once more; 0 = never. */
  readonly days: number
}

/** What is served is read after a start: quickly, and yet disks have time for queries. */
const startBytesPerSecond = 250e6
/** What was verified before is read again at leisure. */
const scrubBytesPerSecondMax = 20e6
/** A file that could not be verified is tried again after this long. */
const retryMs = 60_000
/** Timers can't be set further ahead than 24 days. */
const pauseMsMax = 3_600_000
const dayMs = 86_400_000

interface Turn {
  readonly file: DataFile
  /** How long after the file before it: large ones have more of the period. */
  readonly afterMs: number
}

/**
 * Verifies every stored file: those that this process has not read yet one after another, then all
 * of them again once in so many days. What queries need meanwhile they verify themselves.
 */
export class Scrub {
  readonly #parts: ScrubParts
  #round: Turn[] = []
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

  /** Something else is served than before. */
  wake(): void {
    this.#isWoken = true
    this.#wake()
  }

  /** Ends without a wait for the file that is being read. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  async #run(): Promise<void> {
    let doneAt = performance.now()
    while (!this.#isClosed) {
      this.#isWoken = false
      const isAllVerified = await this.#verifyNew()
      const next = await this.#next()
      const dueMs = next ? doneAt + next.afterMs - performance.now() : Infinity
      if (dueMs > 0) {
        await this.#pause(Math.min(dueMs, isAllVerified ? pauseMsMax : retryMs))
        continue
      }
      const turn = this.#round.shift()
      if (turn) await this.#parts.checks.verify(turn.file, scrubBytesPerSecondMax)
      doneAt = performance.now()
    }
  }

  /** False where a file could not be verified. */
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

  /** The next file of this round, or the first of a new one; null where there is nothing to do. */
  async #next(): Promise<Turn | null> {
    const { files, days, checks } = this.#parts
    if (days === 0) return null
    const served = new Set(files().map(({ path }) => path))
    while (this.#round[0] && !served.has(this.#round[0].file.path)) this.#round.shift()
    if (this.#round.length === 0) {
      const hashed = files().filter(({ hash }) => hash !== null)
      const oldestFirst = [...hashed].sort(
        (left, right) => (checks.verifiedAt(left) ?? 0) - (checks.verifiedAt(right) ?? 0),
      )
      this.#round = await turnsOf(oldestFirst, days * dayMs)
    }
    return this.#round[0] ?? null
  }

  #pause(ms: number): Promise<void> {
    if (this.#isWoken || this.#isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** Spreads files over a period by their size. */
async function turnsOf(files: readonly DataFile[], periodMs: number): Promise<Turn[]> {
  const sizes: number[] = []
  for (const { path } of files) sizes.push((await stat(path).catch(() => null))?.size ?? 0)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return files.map((file, index) => {
    return { file, afterMs: (periodMs * (sizes[index] ?? 0)) / Math.max(total, 1) }
  })
}
