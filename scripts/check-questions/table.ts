import type { Column } from '../../src/columns/column.js'
import type { Value } from '../../src/columns/filter-value.js'

/** A cell of the model. */
export interface Cell {
  /** Steps of the column's grid, a number, text or truth; null = empty. */
  readonly value: Value | null
  /** Its JSON text in an answer; null where any text of the same number is right. */
  readonly json: string | null
}

/** A column of the model with its cells in stored order. */
export interface ModelColumn {
  readonly name: string
  readonly column: Column
  readonly cells: readonly Cell[]
}

/** A dataset in memory. */
export interface Table {
  readonly dataset: string
  readonly columns: readonly ModelColumn[]
  readonly rows: number
}

/** The JSON text of a cell. */
export function cellText({ cells }: ModelColumn, row: number): string {
  return cells[row]?.json ?? 'null'
}

/** The value of a cell. */
export function cellValue({ cells }: ModelColumn, row: number): Value | null {
  return cells[row]?.value ?? null
}
