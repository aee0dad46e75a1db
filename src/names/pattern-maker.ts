import { spellingsOf } from './letters.js'
import { NearWords } from './near-words.js'
import { isEmpty } from './pattern.js'
import type { Pattern, Slot } from './pattern.js'
import { initialsMax, initialsMin, wholeInitials } from './readings.js'
import { initialsWord } from './vocabulary.js'
import type { Vocabulary } from './vocabulary.js'
import type { Word } from './words.js'

/** Of one question. */
const patternsMax = 64
/** Ways to split one word into words that names have. */
const splitsMax = 24
const splitStepsMax = 1000
/** Longer words, in letters, are not split: it would take long. */
const splitLettersMax = 128
/** Words from which a part may be one letter: `трансфинм`. */
const singleLettersMin = 6
const joinedWordsMax = 3
/** Of a part of a word that is a word with edits, and of the parts around it. */
const [cutLettersMin, partLettersMin] = [4, 2]
/** Parts of one word that are compared with edits. */
const editedMiddlesMax = 8
/** Spellings of a Latin word that are compared with edits. */
const editedSpellingsMax = 2
const noEdits: ReadonlyMap<number, number> = new Map()

/** How words of a question are compared with those of names. */
export type Editing = 'none' | 'unknown words' | 'endings' | 'words' | 'beginnings'

/** Makes patterns of the words of a question. */
export class PatternMaker {
  readonly #vocabulary: Vocabulary
  readonly #nearWords: NearWords
  /** What was found of the words, and of the parts of words, of one question. */
  readonly #split = new Map<string, readonly (readonly Slot[])[]>()
  readonly #exact = new Map<string, Slot | null>()

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
    this.#nearWords = new NearWords(vocabulary)
  }

  /** Begins a question, in which only some words are compared with edits. */
  begin(): void {
    this.#nearWords.begin()
    this.#split.clear()
    this.#exact.clear()
  }

  /** How many of the words no name has, nor one that begins so. */
  unknown(words: readonly Word[]): number {
    return this.#slots(words, 'none').filter(isEmpty).length
  }

  /** Without edits: the words as they are, neighbours joined, words split. */
  plain(words: readonly Word[]): readonly Pattern[] {
    const slots = this.#slots(words, 'none')
    const patterns: Pattern[] = [slots.map((slot) => [slot])]
    for (const { from, to, word } of joins(words)) {
      patterns.push(replaced(slots, from, to, [this.#slot(word, to === words.length, 'none')]))
    }
    for (const [at, word] of words.entries()) {
      for (const part of this.#splits(word)) patterns.push(replaced(slots, at, at + 1, part))
    }
    const unknown = words.map((word, at) => isEmpty(slots[at] ?? noSlot) && this.#splits(word)[0])
    if (unknown.filter(Boolean).length > 1) {
      patterns.push(slots.map((slot, at) => unknown[at] || [slot]))
    }
    const all = joined(words)
    if (all && words.length > 1) patterns.push(...this.#splits(all).map((part) => [part]))
    return patterns.filter(isPossible).slice(0, patternsMax)
  }

  /** The first words, or all, abbreviated by their initials; two letters need a word more. */
  abbreviated(words: readonly Word[]): readonly Pattern[] {
    return words.flatMap((_, at) => {
      const rest = this.#slots(words.slice(at + 1), 'none')
      return wholeInitials(words.slice(0, at + 1))
        .filter((initials) => initials.length > initialsMin || rest.length > 0)
        .map((initials) => this.#vocabulary.numberOf(initials))
        .filter((number) => number >= 0)
        .map((number) => [exactly(number), ...rest].map((slot) => [slot]))
        .filter(isPossible)
    })
  }

  /** With edits, in the words as they are and in neighbours joined. */
  edited(words: readonly Word[], editing: Editing, extra = 0): readonly Pattern[] {
    const slots = this.#slots(words, editing, extra)
    const patterns: Pattern[] = [slots.map((slot) => [slot])]
    if (editing === 'words') {
      for (const { from, to, word } of joins(words)) {
        const isRound = to - from === 2 || to - from === words.length
        if (isRound) patterns.push(replaced(slots, from, to, [this.#slot(word, false, editing)]))
      }
    }
    return patterns.filter(isPossible)
  }

  /** Unknown words as several words, one of them with edits. */
  editedSplits(words: readonly Word[]): readonly Pattern[] {
    const slots = this.#slots(words, 'none')
    return words.flatMap((word, at) => {
      const slot = slots[at]
      if (word.isNumber || !slot || !isEmpty(slot) || word.text.length > splitLettersMax) return []
      return this.#partsWithEdits(word.text)
        .map((part) => replaced(slots, at, at + 1, part))
        .filter(isPossible)
        .slice(0, patternsMax)
    })
  }

  /** Words that names have around one that is like others, the shortest such one first. */
  #partsWithEdits(text: string): readonly (readonly Slot[])[] {
    const before = this.#partsBefore(text)
    const after = this.#partsAfter(text)
    const middles = [...before].flatMap(([from, left]) =>
      [...after].map(([to, right]) => ({ from, to, left, right })),
    )
    return middles
      .filter(({ from, to }) => to - from >= cutLettersMin && to - from < text.length)
      .sort((one, other) => one.to - one.from - (other.to - other.from))
      .slice(0, editedMiddlesMax)
      .flatMap(({ from, to, left, right }) => {
        const edited = this.#near(spellingsOf(text.slice(from, to)), 'words', 0)
        return edited.size === 0 ? [] : [[...left, { equals: [], ranges: [], edited }, ...right]]
      })
  }

  /** Beginnings of a text that are words of names, by their ends: these words. */
  #partsBefore(text: string): ReadonlyMap<number, readonly Slot[]> {
    const found = new Map<number, readonly Slot[]>([[0, []]])
    for (let to = partLettersMin; to < text.length; to++) {
      for (const [from, parts] of found) {
        const part = to - from >= partLettersMin && this.#exactly(text.slice(from, to))
        if (!part) continue
        found.set(to, [...parts, part])
        break
      }
    }
    return found
  }

  /** Ends of a text that are words of names, by their starts: these words. */
  #partsAfter(text: string): ReadonlyMap<number, readonly Slot[]> {
    const found = new Map<number, readonly Slot[]>([[text.length, []]])
    for (let from = text.length - partLettersMin; from > 0; from--) {
      for (const [to, parts] of found) {
        const part = to - from >= partLettersMin && this.#exactly(text.slice(from, to))
        if (!part) continue
        found.set(from, [part, ...parts])
        break
      }
    }
    return found
  }

  #slots(words: readonly Word[], editing: Editing, extra = 0): readonly Slot[] {
    return words.map((word, at) => this.#slot(word, at === words.length - 1, editing, extra))
  }

  /** A number in the middle of a question is whole; other words may be beginnings. */
  #slot({ spellings, isNumber }: Word, isLast: boolean, editing: Editing, extra = 0): Slot {
    const numberOf = (word: string) => this.#vocabulary.numberOf(word)
    const equals = spellings.map(numberOf).filter((number) => number >= 0)
    const abbreviated = spellings
      .filter(({ length }) => !isNumber && length <= initialsMax)
      .map((spelling) => numberOf(initialsWord(spelling)))
      .filter((number) => number >= 0)
    const whole = (isNumber && !isLast ? [...equals, ...abbreviated] : abbreviated).map(single)
    const begun = spellings
      .map((spelling) => this.#vocabulary.beginningWith(spelling))
      .filter(({ low, high }) => low < high)
    const ranges = isNumber && !isLast ? whole : [...begun, ...whole]
    const isOfUnknown = editing === 'unknown words' || editing === 'endings'
    const isEdited = !isNumber && (!isOfUnknown || ranges.length === 0)
    const isCompared = isEdited && editing !== 'none'
    return { equals, ranges, edited: isCompared ? this.#near(spellings, editing, extra) : noEdits }
  }

  #near(spellings: readonly string[], editing: Editing, extra: number) {
    if (editing === 'endings') {
      const words = spellings.flatMap((spelling) => this.#vocabulary.withOtherEnding(spelling))
      return new Map(words.map((word) => [word, 1]))
    }
    const found = new Map<number, number>()
    for (const spelling of spellings.slice(0, editedSpellingsMax)) {
      const near = this.#nearWords.near(spelling, editing === 'beginnings', extra)
      for (const [word, edits] of near) {
        if (edits < (found.get(word) ?? Infinity)) found.set(word, edits)
      }
    }
    return found
  }

  /** Ways to read a word as several words that names have, long ones first. */
  #splits({ text, isNumber }: Word): readonly (readonly Slot[])[] {
    const known = this.#split.get(text)
    if (known) return known
    const found: (readonly Slot[])[] = []
    const partMin = text.length < singleLettersMin ? 2 : 1
    /** Places from which no words lead to the end. */
    const ends = new Set<number>()
    let steps = 0
    const split = (from: number, parts: readonly Slot[]) => {
      const before = found.length
      if (from === text.length && parts.length > 1) found.push(parts)
      const last = Math.min(text.length, from + this.#vocabulary.lettersMax)
      for (let to = last; to >= from + partMin; to--) {
        if (ends.has(to)) continue
        if (found.length === splitsMax || ++steps > splitStepsMax) return
        const part = this.#exactly(text.slice(from, to))
        if (part) split(to, [...parts, part])
      }
      if (found.length === before) ends.add(from)
    }
    if (!isNumber && text.length <= splitLettersMax) split(0, [])
    this.#split.set(text, found)
    return found
  }

  /** A part of a word that names have as a word; null if none has. */
  #exactly(part: string): Slot | null {
    const known = this.#exact.get(part)
    if (known !== undefined || part.length > this.#vocabulary.lettersMax) return known ?? null
    const numbers = spellingsOf(part).map((spelling) => this.#vocabulary.numberOf(spelling))
    const equals = numbers.filter((number) => number >= 0)
    const slot =
      equals.length === 0 ? null : { equals, ranges: equals.map(single), edited: noEdits }
    this.#exact.set(part, slot)
    return slot
  }
}

function single(number: number) {
  return { low: number, high: number + 1 }
}

const noSlot: Slot = { equals: [], ranges: [], edited: noEdits }

function exactly(number: number): Slot {
  return { equals: [number], ranges: [single(number)], edited: noEdits }
}

function isPossible(pattern: Pattern): boolean {
  return pattern.length > 0 && !pattern.flat().some(isEmpty)
}

/** The pattern of slots in which those from `from` up to `to` are one part. */
function replaced(slots: readonly Slot[], from: number, to: number, part: readonly Slot[]) {
  const alone = (slot: Slot) => [slot]
  return [...slots.slice(0, from).map(alone), part, ...slots.slice(to).map(alone)]
}

/** Neighbours as one word: two, three, or all. */
function joins(words: readonly Word[]) {
  const found: { readonly from: number; readonly to: number; readonly word: Word }[] = []
  for (let from = 0; from < words.length; from++) {
    for (let to = from + 2; to <= words.length; to++) {
      if (to - from > joinedWordsMax && to - from < words.length) continue
      const word = joined(words.slice(from, to))
      if (word) found.push({ from, to, word })
    }
  }
  return found
}

/** Words as one; undefined if one is a number. */
function joined(words: readonly Word[]): Word | undefined {
  if (words.some(({ isNumber }) => isNumber)) return undefined
  const join = (textOf: (word: Word) => string) => words.map(textOf).join('')
  return {
    written: join(({ written }) => written),
    text: join(({ text }) => text),
    spellings: [join(({ spellings }) => spellings[0] ?? '')],
    isNumber: false,
    initials: join(({ initials }) => initials),
  }
}
