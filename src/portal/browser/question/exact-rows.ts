/** A value exactly as sent: numbers keep every digit, arrays and objects are JSON text. */
export interface Cell {
  readonly kind: 'empty' | 'text' | 'number' | 'boolean' | 'json'
  readonly text: string
}

/** Column → value, in the order that was sent, digit-only names too. */
export type Row = ReadonlyMap<string, Cell>

/**
 * The tokens of JSON: strings, punctuation, and between them numbers and names. A string ends at
 * the first quote after an even number of backslashes; a pattern that matches one character at
 * a time would overflow the stack on a long string.
 */
const tokens = /"(?:[^]*?[^\\])??(?:\\\\)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g
/** `{"data": [{` */
const rowDepth = 3

/**
 * Reads the rows of an answer, which come first in it, without changing them. JSON.parse would
 * round long numbers, and objects would list digit-only names first.
 */
export function readExactRows(text: string): readonly Row[] {
  const rows: Map<string, Cell>[] = []
  let depth = 0
  let name: string | null = null
  let start = 0
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      depth += 1
      if (depth === rowDepth) rows.push(new Map())
      if (depth === rowDepth + 1) start = index
    } else if (token === '}' || token === ']') {
      depth -= 1
      if (depth < 2) break
      if (depth === rowDepth && name !== null) {
        rows.at(-1)?.set(name, { kind: 'json', text: text.slice(start, index + 1) })
        name = null
      }
    } else if (depth === rowDepth && token !== ':' && token !== ',') {
      if (name === null) name = JSON.parse(token) as string
      else {
        rows.at(-1)?.set(name, scalar(token))
        name = null
      }
    }
  }
  return rows
}

function scalar(token: string): Cell {
  if (token.startsWith('"')) return { kind: 'text', text: JSON.parse(token) as string }
  if (token === 'null') return { kind: 'empty', text: '' }
  return { kind: token === 'true' || token === 'false' ? 'boolean' : 'number', text: token }
}
