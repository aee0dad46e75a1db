import { stripVTControlCharacters } from 'node:util'

/** Removes terminal escapes, control characters and marks that change the writing direction. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
}

/** A number as it is pasted from a document, without spaces, dashes and invisible letters. */
export function compactNumber(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\s\p{DI}\p{Cf}\p{Pd}\u2212]/gu, '')
    .toUpperCase()
}
