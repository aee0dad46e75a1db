import type Database from 'better-sqlite3'
import { grades } from './best-entities.js'
import type { BestEntities } from './best-entities.js'
import { readArray } from './file-arrays.js'
import { editsOf } from './pattern.js'
import type { Pattern, Slot } from './pattern.js'
import { overlap } from './span.js'
import { Vocabulary } from './vocabulary.js'

/** Which rows the caller sees. */
export interface Sight {
  readonly window: number
  readonly isDemo: boolean
}

/** All readings of all names in memory, in order of rank (`written-readings.ts`). */
export class StoredReadings {
  readonly vocabulary: Vocabulary
  /** Words of all readings, and where those of each reading begin. */
  readonly #words: Uint32Array
  readonly #starts: Uint32Array
  readonly #entities: Uint32Array
  /** By reading: the number of its pair of masks. */
  readonly #spans: Uint32Array
  /** Pairs of masks: periods, demo periods. */
  readonly #spanPeriods: Float64Array
  /** Readings by word, and where those of each word begin. */
  readonly #postings: Uint32Array
  readonly #postingStarts: Uint32Array

  constructor(db: Database.Database) {
    const numbers = (name: string) => new Uint32Array(readArray(db, name))
    this.vocabulary = new Vocabulary({
      letters: new Uint16Array(readArray(db, 'letters')),
      starts: numbers('wordStarts'),
      lengths: new Uint8Array(readArray(db, 'lengths')),
    })
    this.#words = numbers('words')
    this.#starts = numbers('starts')
    this.#entities = numbers('entities')
    this.#spans = numbers('spans')
    this.#spanPeriods = new Float64Array(readArray(db, 'spanPeriods'))
    this.#postings = numbers('postings')
    this.#postingStarts = numbers('postingStarts')
  }

  /** Adds the visible readings that meet a pattern. */
  collect(pattern: Pattern, sight: Sight, best: BestEntities): void {
    const visible = this.#visibleSpans(sight)
    const rarest = this.#rarest(pattern)
    const slots = pattern.flat()
    const check = (low: number, high: number) => {
      const end = this.#postingStarts[high] ?? 0
      for (let at = this.#postingStarts[low] ?? 0; at < end; at++) {
        const reading = this.#postings[at] ?? 0
        const entity = this.#entities[reading] ?? 0
        if (visible[this.#spans[reading] ?? 0] === 0 || best.isBeyond(entity)) continue
        const grade = this.#grade(reading, pattern, slots)
        if (grade >= 0) best.add(grade, entity, reading)
      }
    }
    for (const { low, high } of rarest.ranges) check(low, high)
    for (const word of rarest.edited.keys()) check(word, word + 1)
  }

  #visibleSpans({ window, isDemo }: Sight): Uint8Array {
    const visible = new Uint8Array(this.#spanPeriods.length / 2)
    return visible.map((_, at) => {
      const periods = this.#spanPeriods[2 * at + (isDemo ? 1 : 0)] ?? 0
      return overlap(periods, window) === 0 ? 0 : 1
    })
  }

  /** The word of a pattern that fewest readings have. */
  #rarest(pattern: Pattern): Slot {
    const counted = pattern.flat().map((slot) => ({ slot, count: this.#count(slot) }))
    return counted.reduce((left, right) => (right.count < left.count ? right : left)).slot
  }

  #count({ ranges, edited }: Slot): number {
    const starts = this.#postingStarts
    const between = (low: number, high: number) => (starts[high] ?? 0) - (starts[low] ?? 0)
    let count = 0
    for (const { low, high } of ranges) count += between(low, high)
    for (const word of edited.keys()) count += between(word, word + 1)
    return count
  }

  /** -1 = the reading does not meet the pattern. */
  #grade(reading: number, pattern: Pattern, slots: readonly Slot[]): number {
    const start = this.#starts[reading] ?? 0
    const end = this.#starts[reading + 1] ?? 0
    let edits = 0
    for (const part of pattern) {
      const fewest = this.#editsOfPart(part, start, end)
      if (fewest < 0) return -1
      edits += fewest
    }
    return edits > 0 ? grades.edited + edits - 1 : this.#gradeInOrder(start, end, slots)
  }

  /** The fewest edits with which the words from `start` to `end` have a part; -1 = they don't. */
  #editsOfPart(part: readonly Slot[], start: number, end: number): number {
    let fewest = -1
    for (let at = start; at + part.length <= end; at++) {
      let edits = 0
      for (let next = 0; next < part.length && edits >= 0; next++) {
        const slot = part[next]
        const more = slot ? editsOf(slot, this.#words[at + next] ?? 0) : -1
        edits = more < 0 ? -1 : edits + more
      }
      if (edits >= 0 && (fewest < 0 || edits < fewest)) fewest = edits
    }
    return fewest
  }

  #gradeInOrder(start: number, end: number, slots: readonly Slot[]): number {
    const last = slots.length - 1
    if (end - start < slots.length) return grades.words
    for (let at = 0; at < last; at++) {
      if (!slots[at]?.equals.includes(this.#words[start + at] ?? 0)) return grades.words
    }
    const lastWord = this.#words[start + last] ?? 0
    const slot = slots[last]
    if (!slot || lastWord < this.vocabulary.firstWord) return grades.words
    const isWhole =
      start + slots.length === end ||
      (this.#words[start + slots.length] ?? 0) < this.vocabulary.firstWord
    if (isWhole && slot.equals.includes(lastWord)) return grades.exact
    return editsOf(slot, lastWord) === 0 ? grades.prefix : grades.words
  }
}
