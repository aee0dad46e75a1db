import { comparedMax, editCounter } from './edits.js'

/** Words with numbers from `low` up to, without, `high`. */
export interface WordRange {
  readonly low: number
  readonly high: number
}

/** Abbreviations stand before all words. */
const initialsSign = '*'

/** An abbreviation as a word of the vocabulary. */
export function initialsWord(initials: string): string {
  return `${initialsSign}${initials}`
}

/** What a vocabulary is made of; the arrays are kept in the file. */
export interface VocabularyArrays {
  /** The letters of all words, in order of words. */
  readonly letters: Uint16Array
  /** Where each word begins in `letters`, and where the last one ends. */
  readonly starts: Uint32Array
  /** How many letters each word was written with. */
  readonly lengths: Uint8Array
}

/** From how many letters on a word may have one edit, and two. */
const oneEditMin = 5
const twoEditsMin = 9
const lettersPerExtraEdit = 3

/** All words of all names, each with a number; in order of spelling. */
export class Vocabulary {
  readonly #letters: Uint16Array
  readonly #starts: Uint32Array
  readonly #lengths: Uint8Array
  /** A bit for each letter that a word has. */
  readonly #masks: Uint32Array
  /** The first number of a word that is not an abbreviation. */
  readonly firstWord: number
  readonly size: number

  constructor({ letters, starts, lengths }: VocabularyArrays) {
    this.#letters = letters
    this.#starts = starts
    this.#lengths = lengths
    this.size = lengths.length
    this.firstWord = this.#find(String.fromCharCode(initialsSign.charCodeAt(0) + 1))
    this.#masks = new Uint32Array(this.size)
    for (let word = 0; word < this.size; word++) {
      let mask = 0
      for (let at = this.#start(word); at < this.#start(word + 1); at++) {
        mask |= bitOf(letters[at] ?? 0)
      }
      this.#masks[word] = mask
    }
  }

  /** The words that begin with a text; empty if none does. */
  beginningWith(text: string): WordRange {
    return { low: this.#find(text), high: this.#find(`${text}\uffff`) }
  }

  /** The number of a word; -1 if no name has it. */
  numberOf(word: string): number {
    const found = this.#find(word)
    return found < this.size && this.#compare(found, word) === 0 ? found : -1
  }

  /**
   * The words within so many edits as their length allows: one from five letters on, two from nine;
   * with `extra`, more. `isBeginning`: words of which a beginning is as near; then the length of the
   * text decides.
   */
  near(text: string, isBeginning: boolean, extra = 0): ReadonlyMap<number, number> {
    const found = new Map<number, number>()
    const count = editCounter(text)
    const length = Math.min(text.length, comparedMax)
    const mask = maskOf(text)
    const ownMax = editsAllowed(text.length, extra)
    for (let word = this.firstWord; word < this.size; word++) {
      const max = isBeginning ? ownMax : editsAllowed(this.#lengths[word] ?? 0, extra)
      if (max === 0) continue
      const other = this.#masks[word] ?? 0
      if (bits(isBeginning ? mask & ~other : mask ^ other) > (isBeginning ? max : 2 * max)) continue
      const start = this.#start(word)
      const end = this.#start(word + 1)
      if (end - start < length - max || (!isBeginning && end - start > length + max)) continue
      const stop = isBeginning ? Math.min(end, start + length + max) : end
      const edits = count(this.#letters, start, stop, max, isBeginning)
      if (edits <= max) found.set(word, edits)
    }
    return found
  }

  #start(word: number): number {
    return this.#starts[word] ?? 0
  }

  /** The first word that is not before a text. */
  #find(text: string): number {
    let low = 0
    let high = this.size
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(middle, text) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #compare(word: number, text: string): number {
    const start = this.#start(word)
    const length = this.#start(word + 1) - start
    for (let at = 0; at < Math.min(length, text.length); at++) {
      const difference = (this.#letters[start + at] ?? 0) - text.charCodeAt(at)
      if (difference !== 0) return difference
    }
    return length - text.length
  }
}

function editsAllowed(letters: number, extra: number): number {
  const own = letters >= twoEditsMin ? 2 : Number(letters >= oneEditMin)
  return Math.max(own, Math.min(own + extra, Math.floor(letters / lettersPerExtraEdit)))
}

/** The letters а to я have a bit each. */
function bitOf(code: number): number {
  return 1 << (code & 31)
}

function maskOf(text: string): number {
  return [...text].reduce((mask, letter) => mask | bitOf(letter.charCodeAt(0)), 0)
}

function bits(mask: number): number {
  let left = mask - ((mask >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
