import type { Vocabulary } from './vocabulary.js'

/** Words of a question that are compared with all words of the names; each takes milliseconds. */
const comparedMax = 16

/** Words with typos for the words of one question at a time. */
export class NearWords {
  readonly #vocabulary: Vocabulary
  readonly #found = new Map<string, ReadonlyMap<number, number>>()

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** Begins a question. */
  begin(): void {
    this.#found.clear()
  }

  /** As `Vocabulary.near`; nothing once a question has compared as many words as it may. */
  near(word: string, isBeginning: boolean, extra = 0): ReadonlyMap<number, number> {
    const key = `${word} ${isBeginning} ${extra}`
    const known = this.#found.get(key)
    if (known) return known
    if (this.#found.size >= comparedMax) return none
    const found = this.#vocabulary.near(word, isBeginning, extra)
    this.#found.set(key, found)
    return found
  }
}

const none: ReadonlyMap<number, number> = new Map()
