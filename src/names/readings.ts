import { formLength, withoutCompanyForms, withoutLegalForms } from './legal-forms.js'
import { wordsOf } from './words.js'
import type { Word } from './words.js'

/** One way to read a name, as its words in the alphabet of names. */
export interface Reading {
  readonly words: readonly string[]
  /** How many letters the words were written with, signs included that are folded away. */
  readonly lengths: readonly number[]
  /** What the beginning of the name is abbreviated to. */
  readonly initials: readonly string[]
}

/** Longer names are not read further: their words beyond find nothing. */
const wordsMax = 60
const readingsMax = 4
/** Words that abbreviations leave out. */
const smallWords: ReadonlySet<string> = new Set('и по с в во на для от к of and the for'.split(' '))
/** Shortest and longest abbreviations. */
export const initialsMin = 2
export const initialsMax = 12

/** The last part in brackets: `… (ООО "РСТ")`. */
const bracketed = /^(.*\S)\s*\(([^()]+)\)\s*$/su

/**
 * The ways to read a name, without its legal forms: as a whole, or before and in brackets if those
 * hold the name with its form again; each with its Latin words in their usual spellings, and again
 * with the form of a body that is no company.
 */
export function readingsOf(name: string): readonly Reading[] {
  return repeatedNames(name)
    .flatMap((part) => {
      const words = wordsOf(part)
      const [bare, more] = [withoutLegalForms(words), withoutCompanyForms(words)]
      return bare.length === more.length ? [bare] : [bare, more]
    })
    .flatMap((words) => spelled(words.slice(0, wordsMax)))
    .filter(({ words }) => words.length > 0)
}

function repeatedNames(name: string): readonly string[] {
  const [, before, inside] = bracketed.exec(name) ?? []
  if (before === undefined || inside === undefined) return [name]
  return formLength(wordsOf(inside), 0) > 0 ? [before, inside] : [name]
}

function spelled(words: readonly Word[]): readonly Reading[] {
  const count = Math.min(readingsMax, Math.max(0, ...words.map((word) => word.spellings.length)))
  const lengths = words.map(({ text }) => text.length)
  const initials = initialsOf(words)
  return Array.from({ length: count }, (_, at) => ({
    words: words.map(({ spellings }) => spellings[at] ?? spellings[0] ?? ''),
    lengths,
    initials: at === 0 ? initials : [],
  }))
}

/**
 * What the first words are abbreviated to, with and without small words: `пг` and `пгк` for "Первая
 * Грузовая Компания".
 */
function initialsOf(words: readonly Word[]): readonly string[] {
  const found = new Set<string>()
  for (let count = 1; count <= Math.min(words.length, initialsMax); count++) {
    for (const initials of wholeInitials(words.slice(0, count))) found.add(initials)
  }
  return [...found]
}

/** What all these words are abbreviated to; none with a number, or of one letter. */
export function wholeInitials(words: readonly Word[]): readonly string[] {
  if (words.some(({ isNumber }) => isNumber)) return []
  const large = words.filter(({ text }) => !smallWords.has(text))
  const both = [words, large].map((some) => some.map(({ initials }) => initials).join(''))
  return [...new Set(both)].filter(({ length }) => length >= initialsMin && length <= initialsMax)
}
