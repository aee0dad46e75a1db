/**
 * Text for people and agents without what would act on its reader: control characters, terminal
 * escapes, and marks that turn the direction of writing.
 */
export function plainText(text: string): string {
  return text
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
    .replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
}

/** The same where there may be none. */
export function plainTextOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : plainText(text)
}
