import { isExactNumber } from '../../test/support/query-results.js'
import { cellText } from './table.js'
import type { ModelColumn } from './table.js'

/** Rows as an answer must have them, byte by byte. */
export interface ExpectedRows {
  readonly columns: readonly ModelColumn[]
  readonly rows: readonly number[]
}

/** One row as JSON. */
function objectText(columns: readonly ModelColumn[], row: number): string {
  const cells = columns.map((column) => `${JSON.stringify(column.name)}:${cellText(column, row)}`)
  return `{${cells.join()}}`
}

/** The rows of `{"data": […]}`, each ending in nothing else than the list's comma. */
export function jsonRows({ columns, rows }: ExpectedRows): string {
  return rows.map((row) => objectText(columns, row)).join()
}

/** Each row on a line. */
export function ndjsonRows({ columns, rows }: ExpectedRows): string {
  return rows.map((row) => `${objectText(columns, row)}\n`).join('')
}

/** RFC 4180 with the line of names; null is an empty cell, or `""` alone in its line. */
export function csvRows({ columns, rows }: ExpectedRows): string {
  const isAlone = columns.length === 1
  const lines = [
    columns.map(({ name }) => quotedCell(name)),
    ...rows.map((row) => columns.map((column) => csvCell(column, cellText(column, row), isAlone))),
  ]
  return lines.map((cells) => `${cells.join()}\r\n`).join('')
}

function csvCell({ column }: ModelColumn, json: string, isAlone: boolean): string {
  if (json === 'null') return isAlone ? '""' : ''
  if (column.rules.shown === 'json') return `"${json.replaceAll('"', '""')}"`
  return json.startsWith('"') ? quotedCell(JSON.parse(json) as string) : json
}

/** Texts with separators, quotes, line ends or space around them have quotes. */
function quotedCell(text: string): string {
  const needsQuotes = /^$|[",\r\n]|^[\t\n\f\r ]|[\t\n\f\r ]$/.test(text)
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text
}

/** The columns of a tool's answer, numbers that JSON readers round as strings. */
export function toolColumns({ columns, rows }: ExpectedRows): readonly (readonly string[])[] {
  return columns.map((column) => rows.map((row) => toolCell(cellText(column, row))))
}

function toolCell(json: string): string {
  return /^-?\d/.test(json) && !isExactNumber(json) ? `"${json}"` : json
}
