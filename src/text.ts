import { distance } from 'fastest-levenshtein'

const namesMax = 3
const lettersMax = 40

/** The names most similar to `wanted`, nearest first; an empty list if none is similar. */
export function nearestNames(
  wanted: string,
  names: Iterable<string>,
  lettersPerEdit = 2,
): readonly string[] {
  const text = wanted.slice(0, 64).toLowerCase()
  // Of numbers, such as codes and years, any other is near by its letters.
  const limit = /^\d+$/.test(text) ? 1 : Math.max(1, Math.floor(text.length / lettersPerEdit))
  // A name without the signs of an expression, or of a list, means something else.
  const signs = signsOf(text)
  return [...names]
    .filter((name) => signsOf(name) === signs)
    .map((name) => ({ name, edits: editsBetween(text, name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit)
    .sort((left, right) => left.edits - right.edits)
    .slice(0, namesMax)
    .map(({ name }) => name)
}

const signsOf = (text: string) => text.replaceAll(/[^@+*,/]/g, '')

/**
 * The texts most similar to `wanted`: those with one letter more, less or other, then by the length
 * of the shared beginning, then by spelling.
 */
export function nearestTexts(
  wanted: string,
  texts: readonly string[],
  max: number,
): readonly string[] {
  const start = wanted.slice(0, 64)
  return texts
    .map((text) => ({
      text,
      shared: sharedLetters(start, text),
      edits: distance(start, text.slice(0, 64)),
    }))
    .sort(
      (left, right) =>
        Number(left.edits > 1) - Number(right.edits > 1) ||
        right.shared - left.shared ||
        left.edits - right.edits,
    )
    .slice(0, max)
    .map(({ text }) => text)
}

function sharedLetters(left: string, right: string): number {
  let shared = 0
  while (shared < left.length && left[shared] === right[shared]) shared++
  return shared
}

/** A beginning (`rate` for `rate_per_minute`) or two swapped letters count as one edit. */
function editsBetween(text: string, name: string): number {
  const shorter = Math.min(text.length, name.length)
  const isBeginning = text.slice(0, shorter) === name.slice(0, shorter)
  if (shorter > 1 && isBeginning && text !== name) return 1
  return isSwapped(text, name) ? 1 : distance(text, name)
}

/** Whether two neighbouring letters are swapped: `kye` for `key`. */
function isSwapped(text: string, name: string): boolean {
  if (text.length !== name.length || text === name) return false
  const at = sharedLetters(text, name)
  return `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}` === name
}

/** ` Did you mean "inn" or "okfs"?` to end an error with; empty if no name is similar. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  return guessText(nearestNames(wanted, names))
}

/** The same of names that are known to be meant. */
export function guessText(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?`
}

/** A caller's text for use in a message: quoted as JSON, at most 40 letters. */
export function quoted(text: string): string {
  const letters = [...text.slice(0, 2 * lettersMax + 2)]
  return JSON.stringify(
    letters.length > lettersMax ? `${letters.slice(0, lettersMax).join('')}…` : text,
  )
}

/** `an integer`, `a date`. */
export function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/**
 * A text as a cell of CSV (RFC 4180), unchanged: a name altered for spreadsheets would name another
 * column. Quotes also protect spaces at the ends, which some readers drop.
 */
export function csvCell(text: string, separator = ','): string {
  const isPlain = !text.includes(separator) && !/["\r\n]|^\s|\s$/.test(text)
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`
}

/** The value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Milliseconds since 1970 as ISO 8601 in UTC, to the second. */
export function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** The same; null for null. */
export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

/** Names of a list in a sentence. */
const listedMax = 5

/** Names in a sentence: `"a", "b" and 3 more`. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, listedMax)
  const more = names.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  const last = shown.at(-1) ?? ''
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`
}

/** `1 row`, `2 rows`. */
export function many(amount: number, word: string): string {
  return `${amount} ${word}${amount === 1 ? '' : 's'}`
}
