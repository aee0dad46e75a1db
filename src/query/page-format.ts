/** The formats of a page (contract 1.3). */
export const pageFormats = ['json', 'ndjson', 'csv', 'parquet'] as const

/** The formats of an export (contract 1.6): those that can be streamed. */
export const exportFormats = ['ndjson', 'csv'] as const

export type PageFormat = (typeof pageFormats)[number]

/** The format of a page's rows: one text per row, or one Parquet file for all. */
export type RowFormat = Exclude<PageFormat, 'ndjson'>

/** Reports whether the text is one of `pageFormats`; case-sensitive. */
export function isPageFormat(text: string): text is PageFormat {
  return (pageFormats as readonly string[]).includes(text)
}

/** The row format of a page format. */
export function rowFormatOf(format: PageFormat): RowFormat {
  return format === 'ndjson' ? 'json' : format
}
