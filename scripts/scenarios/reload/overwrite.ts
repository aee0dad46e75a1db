import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rowsSql } from '../parts/rows.js'
import { pathOf } from './reload-fixture.js'
import type { ReloadFixture } from './reload-fixture.js'

/** How a file is overwritten in place. */
export interface Overwrite {
  readonly name: string
  /** The file is truncated first; else old bytes stay until they are overwritten. */
  readonly isEmptied: boolean
  readonly pieces: number
  readonly pauseMs: number
}

/** The server takes a writer that pauses longer for finished and serves what is written so far. */
export const pauseMsMax = 250

/** Measures the longest pause between two writes: longer than intended on a busy machine. */
export class PauseWatch {
  #wroteMs = NaN
  #longestMs = 0

  /** Includes the pause that has not ended yet. */
  get longestMs(): number {
    return Number.isNaN(this.#wroteMs)
      ? this.#longestMs
      : Math.max(this.#longestMs, performance.now() - this.#wroteMs)
  }

  wrote(): void {
    this.#longestMs = this.longestMs
    this.#wroteMs = performance.now()
  }

  end(): void {
    this.wrote()
    this.#wroteMs = NaN
  }
}

export const overwrites: readonly Overwrite[] = [
  { name: 'emptied, written at once', isEmptied: true, pieces: 1, pauseMs: 0 },
  { name: 'written over at once', isEmptied: false, pieces: 1, pauseMs: 0 },
  { name: 'emptied, written slowly', isEmptied: true, pieces: 20, pauseMs: 100 },
  { name: 'written over slowly', isEmptied: false, pieces: 30, pauseMs: 100 },
  { name: 'written over for a long time', isEmptied: false, pieces: 130, pauseMs: 100 },
]

/** Writes a year's rows of a generation over the file that holds the earlier ones. */
export async function overwrite(
  { folder, things, writer, table }: ReloadFixture,
  year: number,
  generation: number,
  { isEmptied, pieces, pauseMs }: Overwrite,
  pauses: PauseWatch,
): Promise<void> {
  const draft = join(folder, 'data', 'overwrite.draft')
  await writer.copy(draft, rowsSql(table, year, generation))
  const content = await readFile(draft)
  await rm(draft)
  things.willHold(year, generation)
  const path = pathOf(folder, year)
  if (pieces === 1 && isEmptied) return writeFile(path, content)
  await using file = await open(path, isEmptied ? 'w' : 'r+')
  const step = Math.ceil(content.length / pieces)
  for (let start = 0; start < content.length; start += step) {
    await file.write(content, start, Math.min(step, content.length - start), start)
    pauses.wrote()
    await sleep(pauseMs)
  }
  await file.truncate(content.length)
  pauses.end()
}
