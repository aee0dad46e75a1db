import { stripVTControlCharacters } from 'node:util'

/** Removes terminal escapes, control characters and marks that change the writing direction. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
}
