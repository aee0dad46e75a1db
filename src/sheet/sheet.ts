import type { ShownType } from '../columns/column-types.js'
import { decimalsOf } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { badRequest } from '../errors.js'
import type { SheetFormat } from '../query/page-format.js'
import { shareUnit } from '../wording.js'
import { sheetMax } from './sheet-text.js'

/** What the cells of a column become; `decimals` is null for floating-point numbers. */
export type CellKind =
  | {
      readonly kind: 'number'
      readonly decimals: number | null
      /** Amounts have separators of thousands; shares are in percent; codes and years are plain. */
      readonly form?: 'amount' | 'share'
    }
  | { readonly kind: 'boolean' | 'date' | 'timestamp' | 'text' }

export interface SheetColumn {
  readonly name: string
  readonly cells: CellKind
}

/** A table of a file; CSV has one. */
export interface SheetTable {
  readonly name: string
  readonly columns: readonly SheetColumn[]
  /** What the numbers of each row become, where a row is a line of figures. */
  readonly rowCells?: readonly CellKind[]
  /** A row's JSON object in each line, as UTF-8, with the columns in order. */
  readonly lines: Uint8Array<ArrayBuffer>
}

/** Tables to write in a format of spreadsheets. */
export interface Sheet {
  readonly format: SheetFormat
  readonly tables: readonly SheetTable[]
  /** What a workbook says about them, in a sheet of its own: a name with its text. */
  readonly about: readonly (readonly [name: string, text: string])[]
}

/** How the cells of a column are written. */
export function sheetColumn(
  { name, asText, rules, unit }: Pick<Column, 'name' | 'asText' | 'rules' | 'unit'>,
  heading = name,
): SheetColumn {
  const cells = asText
    ? ({ kind: 'text' } as const)
    : cellKind(rules.shown, decimalsOf({ rules }), unit)
  return { name: heading, cells }
}

/** What the cells of a type become; `decimals` is null for floating-point numbers. */
export function cellKind(shown: ShownType, decimals: number | null, unit: string | null): CellKind {
  switch (shown) {
    case 'integer':
    case 'number':
      if (unit === null || unit === 'code') return { kind: 'number', decimals }
      return { kind: 'number', decimals, form: shareUnit.test(unit) ? 'share' : 'amount' }
    case 'boolean':
    case 'date':
    case 'timestamp':
      return { kind: shown }
    default:
      return { kind: 'text' }
  }
}

/**
 * How many of these rows a workbook holds, from the first.
 * @throws bad_request for columns that it can't hold, whatever the rows are
 */
export function rowsThatFit(rows: readonly Buffer[], columns: number): number {
  // The names take a line.
  if (columns <= sheetMax.columns) return Math.min(rows.length, sheetMax.rows - 1)
  throw badRequest(
    `XLSX holds at most ${sheetMax.columns} columns; this has ${columns}. Select fewer, or send ` +
      'format=csv or format=parquet.',
  )
}
