import type { Column } from '../../columns/column.js'
import { parseFilterValue } from '../../columns/filter-value.js'
import type { Value } from '../../columns/filter-value.js'
import { textOfJson } from '../../row-texts.js'
import { cellEnd } from './layout.js'

/** A value as the text that is hashed; equal values of a column have equal texts. */
export function lookUpText(value: Value): string {
  return Object.is(value, -0) ? '0' : String(value)
}

/** A served value of a column: what a filter finds the row by. Null for an empty cell. */
export function valueOfCell(column: Column, cell: string): Value | null {
  if (cell === '') return null
  const parsed = parseFilterValue(column, textOfJson(cell))
  if (parsed.kind === 'exact') return parsed.value
  throw new RangeError('a served value is not one of its column')
}

/** Whether a column's cells are texts as they are stored, so that most need no parsing. */
export function isText({ rules: { domain } }: Column): boolean {
  return domain.kind === 'text' && domain.form !== 'uuid'
}

/** The end of the cell that begins at `from`, in a row that ends at `to`. */
export function endOfCell(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at] !== cellEnd) at += 1
  return at
}
