import { stripVTControlCharacters } from 'node:util'

/**
 * Text for people and agents without what would act on its reader: terminal escapes, control
 * characters, and marks that turn the direction of writing.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
}

/** The same where there may be none. */
export function plainTextOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : plainText(text)
}
