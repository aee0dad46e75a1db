import { parse, stringify } from 'yaml'

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
