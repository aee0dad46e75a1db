/** The formats of a page that a request can name (contract 1.3). */
export const pageFormats = ['json', 'ndjson', 'csv', 'parquet', 'xlsx'] as const

/** The formats of an export (contract 1.6): those that can be streamed. */
export const exportFormats = ['ndjson', 'csv'] as const

/** CSV for Excel, by its separator, is requested as `format=csv&excel=true`. */
export type PageFormat = (typeof pageFormats)[number] | 'csv-comma' | 'csv-semicolon'

/** The formats of spreadsheets, which are written from JSON rows. */
export type SheetFormat = Extract<PageFormat, 'xlsx' | `csv-${string}`>

/** The format of a page's rows: one text per row, or one Parquet file for all. */
export type RowFormat = 'json' | 'csv' | 'parquet'

const csv = 'text/csv; charset=utf-8; header=present'

/** The content type of an answer in each format. */
export const mediaTypes: Readonly<Record<PageFormat, string>> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv,
  parquet: 'application/vnd.apache.parquet',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'csv-comma': csv,
  'csv-semicolon': csv,
}

/** Reports whether the text is one of `pageFormats`; case-sensitive. */
export function isPageFormat(text: string): text is (typeof pageFormats)[number] {
  return (pageFormats as readonly string[]).includes(text)
}

/** Reports whether the format is one of spreadsheets. */
export function isSheetFormat(format: PageFormat): format is SheetFormat {
  return format === 'xlsx' || format === 'csv-comma' || format === 'csv-semicolon'
}

/** The row format of a page format. */
export function rowFormatOf(format: PageFormat): RowFormat {
  return format === 'csv' || format === 'parquet' ? format : 'json'
}
