import { parse, stringify } from 'yaml'

/** A change of a text: `text` replaces everything from `start` to `end`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

const plainLetters = /^[\p{L}\p{N}_./][\p{L}\p{N}_./*=+ -]*$/u
/** Line breaks, control and invisible characters, which only double quotes can escape. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/u

/** A text as a YAML scalar that reads back as the same text, in block and flow style. */
export function scalarText(text: string): string {
  if (plainLetters.test(text) && parse(text) === text) return text
  if (unprintable.test(text)) return escaped(text)
  return `'${text.replaceAll("'", "''")}'`
}

function escaped(text: string): string {
  const unit = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) =>
    found.split('').map(unit).join(''),
  )
}

/** Any value on one line, in flow style. */
export function flowText(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()
}

/** The line break that a text uses. */
export function lineBreakOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

/** The end of the line of `offset`, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const found = /\r?\n/.exec(text.slice(offset))
  return found ? offset + found.index : text.length
}

/** The text with these changes, which must not overlap. */
export function splice(text: string, changes: readonly Splice[]): string {
  const inOrder = [...changes].sort((left, right) => right.start - left.start)
  return inOrder.reduce(
    (rest, { start, end, text: put }) => rest.slice(0, start) + put + rest.slice(end),
    text,
  )
}
