import type { Column } from '../../columns/column.js'
import { badRequest } from '../../errors.js'
import type { SheetFormat } from '../../query/page-format.js'
import { textsOf } from '../../row-texts.js'
import { quoted } from '../../text.js'

/** What the cells of a column become; `decimals` is null for floating-point numbers. */
export type CellKind =
  | { readonly kind: 'number'; readonly decimals: number | null }
  | { readonly kind: 'boolean' | 'date' | 'timestamp' | 'text' }

export interface SheetColumn {
  readonly name: string
  readonly cells: CellKind
}

/** A table to write in a format of spreadsheets. */
export interface Sheet {
  readonly format: SheetFormat
  readonly name: string
  readonly columns: readonly SheetColumn[]
  /** A row's JSON object in each line, as UTF-8, with the columns in order. */
  readonly lines: Uint8Array<ArrayBuffer>
}

/** How the cells of a column are written. */
export function sheetColumn({ name, asText, rules }: Column): SheetColumn {
  return { name, cells: asText ? { kind: 'text' } : cellKind(rules) }
}

function cellKind({ shown, domain }: Column['rules']): CellKind {
  switch (shown) {
    case 'integer':
    case 'number':
      return { kind: 'number', decimals: domain.kind === 'grid' ? domain.scale : null }
    case 'boolean':
    case 'date':
    case 'timestamp':
      return { kind: shown }
    default:
      return { kind: 'text' }
  }
}

/** The limits of Excel, with a line for the names. */
const rowsMax = 1_048_576 - 1
const columnsMax = 16_384
const cellLettersMax = 32_767

const instead = 'Send format=csv or format=parquet.'

/**
 * Refuses rows that Excel can't hold; rows are JSON objects.
 * @throws bad_request naming the limit
 */
export function requireWorkbook(rows: readonly Buffer[], columns: number): void {
  if (rows.length > rowsMax) {
    throw badRequest(`XLSX holds at most ${rowsMax} rows; this has ${rows.length}. ${instead}`)
  }
  if (columns > columnsMax) {
    throw badRequest(
      `XLSX holds at most ${columnsMax} columns; this has ${columns}. Select fewer. ${instead}`,
    )
  }
  for (const [index, row] of rows.entries()) {
    if (row.length > cellLettersMax) requireShortCells(row.toString(), index + 1)
  }
}

function requireShortCells(row: string, number: number): void {
  const { names, cells } = textsOf(row)
  for (const [index, json] of cells.entries()) {
    const letters = json.length > cellLettersMax ? plainText(json).length : 0
    if (letters <= cellLettersMax) continue
    const name = JSON.parse(names[index] ?? '""') as string
    throw badRequest(
      `XLSX holds at most ${cellLettersMax} characters in a cell; column ${quoted(name)} has ` +
        `${letters} in row ${number} of this answer. Leave the column out. ${instead}`,
    )
  }
}

/** The text of a cell: that of a JSON string, and JSON itself for any other value. */
export function plainText(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}
