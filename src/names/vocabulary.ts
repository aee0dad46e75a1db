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
/** Endings of cases, in the alphabet of names. */
const endings =
  'ого|его|ому|ему|ами|ями|ими|ов|ев|ом|ем|ам|ям|ах|ях|их|ои|еи|ую|юю|ою|ею|ая|яя|ое|ее|ие|ии|ию' +
  '|ия|а|я|у|ю|е|и|о'
const ending = new RegExp(`(?:${endings})$`)
const isEnding = new RegExp(`^(?:${endings})?$`)
const endingMax = 3
const stemMin = 4
/** A group for each length and number of edits: none, one, two. */
const allowances = 3
const groupsMax = (comparedMax + 1) * allowances

/** All words of all names, each with a number; in order of spelling. */
export class Vocabulary {
  readonly #letters: Uint16Array
  readonly #starts: Uint32Array
  readonly #lengths: Uint8Array
  /** Words by length and allowed edits, so that a search for typos reads few of them. */
  readonly #grouped: Uint32Array
  readonly #groupStarts: Uint32Array
  /** A bit for each letter of a word, in the order of `#grouped`. */
  readonly #masks: Uint32Array
  /** The first number of a word that is not an abbreviation. */
  readonly firstWord: number
  readonly size: number
  /** A word has at most so many letters, also in Latin ones. */
  readonly lettersMax: number

  constructor({ letters, starts, lengths }: VocabularyArrays) {
    this.#letters = letters
    this.#starts = starts
    this.#lengths = lengths
    this.size = lengths.length
    this.lettersMax = 2 * lengths.reduce((most, length) => Math.max(most, length), 0)
    this.firstWord = this.#find(String.fromCharCode(initialsSign.charCodeAt(0) + 1))
    const groups = Uint16Array.from({ length: this.size }, (_, word) => this.#groupOf(word))
    this.#groupStarts = new Uint32Array(groupsMax + 1)
    for (const group of groups) add(this.#groupStarts, group + 1, 1)
    for (let group = 0; group < groupsMax; group++) {
      add(this.#groupStarts, group + 1, this.#groupStarts[group] ?? 0)
    }
    this.#grouped = new Uint32Array(this.size)
    this.#masks = new Uint32Array(this.size)
    const next = this.#groupStarts.slice()
    for (const [word, group] of groups.entries()) {
      const place = next[group] ?? 0
      next[group] = place + 1
      this.#grouped[place] = word
      this.#masks[place] = maskOf(letters, this.#start(word), this.#start(word + 1))
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
   * The words within so many edits as their length allows: one from five letters on, two from
   * nine; with `extra`, more. `isBeginning`: words of which a beginning is as near; then the length
   * of the text decides.
   */
  near(text: string, isBeginning: boolean, extra = 0): ReadonlyMap<number, number> {
    const found = new Map<number, number>()
    const count = editCounter(text)
    const length = Math.min(text.length, comparedMax)
    const ownMax = withExtra(editsAllowed(text.length), text.length, extra)
    for (let group = 0; group < groupsMax; group++) {
      const other = Math.floor(group / allowances)
      const max = isBeginning ? ownMax : withExtra(group % allowances, other, extra)
      if (max === 0 || other < length - max || (!isBeginning && other > length + max)) continue
      for (const word of this.#alike(group, text, isBeginning, max)) {
        const start = this.#start(word)
        const end = Math.min(this.#start(word + 1), start + length + max)
        const edits = count(this.#letters, start, end, max, isBeginning)
        if (edits <= max) found.set(word, edits)
      }
    }
    return found
  }

  /** The words that are a text with another Russian ending, or none. */
  withOtherEnding(text: string): readonly number[] {
    const stem = text.replace(ending, '')
    if (stem === text || stem.length < stemMin) return []
    const { low, high } = this.beginningWith(stem)
    const words = Array.from({ length: high - low }, (_, at) => low + at)
    return words.filter((word) => {
      const rest = this.#letters.subarray(this.#start(word) + stem.length, this.#start(word + 1))
      return rest.length <= endingMax && isEnding.test(String.fromCharCode(...rest))
    })
  }

  /** Words of a group with about the same letters, or with about all of them. */
  #alike(group: number, text: string, isBeginning: boolean, max: number): readonly number[] {
    const found: number[] = []
    const masks = this.#masks
    const mask = maskOf(codesOf(text), 0, text.length)
    const end = this.#groupStarts[group + 1] ?? 0
    const bitsMax = isBeginning ? max : 2 * max
    for (let at = this.#groupStarts[group] ?? 0; at < end; at++) {
      const other = masks[at] ?? 0
      const difference = isBeginning ? mask & ~other : mask ^ other
      if (bits(difference) <= bitsMax) found.push(this.#grouped[at] ?? 0)
    }
    return found
  }

  /** Abbreviations and long words are in the first group, where nothing is searched. */
  #groupOf(word: number): number {
    const length = this.#start(word + 1) - this.#start(word)
    if (word < this.firstWord || length > comparedMax) return 0
    return length * allowances + editsAllowed(this.#lengths[word] ?? 0)
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

function editsAllowed(letters: number): number {
  return letters >= twoEditsMin ? 2 : Number(letters >= oneEditMin)
}

function withExtra(own: number, letters: number, extra: number): number {
  return Math.max(own, Math.min(own + extra, Math.floor(letters / lettersPerExtraEdit)))
}

/** A bit for each letter; those of а to я are different. */
function maskOf(codes: Uint16Array, start: number, end: number): number {
  let mask = 0
  for (let at = start; at < end; at++) mask |= 1 << ((codes[at] ?? 0) & 31)
  return mask
}

function codesOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
}

function bits(mask: number): number {
  let left = mask - ((mask >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function add(numbers: Uint32Array, at: number, more: number): void {
  numbers[at] = (numbers[at] ?? 0) + more
}
