import { NumberList } from './number-list.js'
import type { Reading } from './readings.js'
import { initialsWord } from './vocabulary.js'

const lengthMax = 255

/**
 * All readings of all names while an index is written. A reading's words are numbers of words; the
 * abbreviations of its beginning stand behind its words.
 */
export class WrittenReadings {
  /** Numbers of words in order of their first use. */
  readonly #numbers = new Map<string, number>()
  readonly #lengths: number[] = []
  readonly #words = new NumberList()
  readonly #starts = new NumberList()
  readonly #entities = new NumberList()
  readonly #spans = new NumberList()
  /** Numbers of the pairs of periods and demo periods that there are. */
  readonly #spanNumbers = new Map<string, number>()

  /** Adds a reading, and returns its number. */
  add(entity: number, periods: number, demoPeriods: number, reading: Reading): number {
    const span = `${periods} ${demoPeriods}`
    const spanNumber = this.#spanNumbers.get(span) ?? this.#spanNumbers.size
    this.#spanNumbers.set(span, spanNumber)
    this.#starts.push(this.#words.length)
    this.#entities.push(entity)
    this.#spans.push(spanNumber)
    for (const [at, word] of reading.words.entries()) {
      this.#words.push(this.#numberOf(word, reading.lengths[at] ?? 0))
    }
    for (const initials of reading.initials) {
      this.#words.push(this.#numberOf(initialsWord(initials), 0))
    }
    return this.#entities.length - 1
  }

  #numberOf(word: string, length: number): number {
    const number = this.#numbers.get(word) ?? this.#numbers.size
    if (number === this.#lengths.length) this.#numbers.set(word, number)
    this.#lengths[number] = Math.max(this.#lengths[number] ?? 0, Math.min(length, lengthMax))
    return number
  }

  /** The arrays of the file by their names (`StoredReadings`); nothing can be added after. */
  finish(): readonly (readonly [string, Uint8Array | Uint16Array | Uint32Array | Float64Array])[] {
    const sorted = [...this.#numbers.keys()].sort()
    const text = sorted.join('')
    const places = new Uint32Array(sorted.length)
    const wordStarts = new Uint32Array(sorted.length + 1)
    const lengths = new Uint8Array(sorted.length)
    let start = 0
    for (const [place, word] of sorted.entries()) {
      const number = this.#numbers.get(word) ?? 0
      places[number] = place
      lengths[place] = this.#lengths[number] ?? 0
      start += word.length
      wordStarts[place + 1] = start
    }
    const words = this.#words.numbers().map((number) => places[number] ?? 0)
    this.#starts.push(words.length)
    const spans = [...this.#spanNumbers.keys()].flatMap((span) => span.split(' ').map(Number))
    return [
      ['letters', Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))],
      ['wordStarts', wordStarts],
      ['lengths', lengths],
      ['words', words],
      ['starts', this.#starts.numbers()],
      ['entities', this.#entities.numbers()],
      ['spans', this.#spans.numbers()],
      ['spanPeriods', Float64Array.from(spans)],
      ...postings(words, this.#starts.numbers(), sorted.length),
    ]
  }
}

/** The readings that have each word, in ascending order, and where those of each word begin. */
function postings(words: Uint32Array, starts: Uint32Array, vocabularySize: number) {
  const postingStarts = new Uint32Array(vocabularySize + 1)
  for (const word of words) postingStarts[word + 1] = (postingStarts[word + 1] ?? 0) + 1
  for (let word = 0; word < vocabularySize; word++) {
    postingStarts[word + 1] = (postingStarts[word + 1] ?? 0) + (postingStarts[word] ?? 0)
  }
  const next = postingStarts.slice()
  const readings = new Uint32Array(words.length)
  for (let reading = 0; reading + 1 < starts.length; reading++) {
    for (let at = starts[reading] ?? 0; at < (starts[reading + 1] ?? 0); at++) {
      const word = words[at] ?? 0
      const place = next[word] ?? 0
      readings[place] = reading
      next[word] = place + 1
    }
  }
  return [
    ['postings', readings],
    ['postingStarts', postingStarts],
  ] as const
}
