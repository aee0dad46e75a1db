import { badRequest } from '../errors.js'
import type { Correction } from './correction.js'

/** As long as a full legal name; each character makes the engine's pattern longer. */
const charactersMax = 1000
/** A longer text is not repeated in an error. */
const shownMax = 60

/**
 * The words of a search, folded, each once: a text contains them if its folded form does. Words are
 * separated by white space; every other character is part of a word.
 * @throws bad_request naming `where` if there is no word or the text is too long; it ends with the
 *   example
 */
export function searchWords(text: string, where: string, example = ''): readonly string[] {
  if (text.length > charactersMax) {
    throw badRequest(`${where} takes at most ${charactersMax} characters; this has ${text.length}.`)
  }
  const words = foldText(text).split(/\s+/).filter(Boolean)
  if (words.length === 0) throw badRequest(`${where} needs at least one word.${example}`)
  return [...new Set(words)]
}

/** Whether a text has every one of the folded words, in any order. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const folded = foldText(text)
  return words.every((word) => folded.includes(word))
}

interface Advice {
  readonly advice: string
  /** Undefined if the pattern has no text to search for, or is too long for a search. */
  readonly correction: Correction | undefined
}

/** The search that a caller means who writes a pattern such as `*word*` or `%word%`. */
export function insteadContains(column: string, operator: string, pattern: string): Advice {
  const isShort = pattern.length <= charactersMax
  const value = isShort ? pattern.replace(/\.?[*%]+|^\^|\$$/g, ' ').trim() : ''
  const isUsable = value !== ''
  const shown = isUsable && value.length <= shownMax ? value : 'word'
  return {
    advice: `For words anywhere in a text, use contains: ${column}=contains.${shown}`,
    correction: isUsable
      ? { kind: 'filter', column, operator, meant: { column, op: 'contains', value } }
      : undefined,
  }
}

/** A text as a search compares it, character by character. */
export function foldText(text: string): string {
  return Array.from(text, foldCharacter).join('')
}

/**
 * The lower case of a character's upper case, so that all forms of a letter are one (σ, ς, Σ); `ё`
 * is `е`. Always one character: `ß` has no upper case of one character and stays, and of the lower
 * case of `İ`, the only one of two characters, the first is taken.
 */
export function foldCharacter(character: string): string {
  const upper = character.toUpperCase()
  const isOne = upper.length === character.length && Array.from(upper).length === 1
  const [lower = character] = (isOne ? upper : character).toLowerCase()
  return lower === 'ё' ? 'е' : lower
}
