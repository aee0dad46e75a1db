import { cellsByName, memberText, textsOf } from '../../../row-texts.js'

/** A value exactly as sent: numbers keep every digit, arrays and objects are JSON text. */
export interface Cell {
  readonly kind: 'empty' | 'text' | 'number' | 'boolean' | 'json'
  readonly text: string
}

/** Column → value, in the order that was sent, digit-only names too. */
export type Row = ReadonlyMap<string, Cell>

/**
 * Reads the rows of an answer without changing them. JSON.parse would round long numbers, and
 * objects would list digit-only names first.
 */
export function readExactRows(text: string): readonly Row[] {
  return textsOf(memberText(text, 'data')).cells.map(
    (row) => new Map([...cellsByName(row)].map(([name, cell]) => [name, cellOf(cell)])),
  )
}

function cellOf(json: string): Cell {
  if (json.startsWith('"')) return { kind: 'text', text: JSON.parse(json) as string }
  if (json === 'null') return { kind: 'empty', text: '' }
  if (json === 'true' || json === 'false') return { kind: 'boolean', text: json }
  return { kind: /^[[{]/.test(json) ? 'json' : 'number', text: json }
}
