/** How a page is written (contract 1.3). */
export const pageFormats = ['json', 'ndjson', 'csv', 'parquet'] as const

/** How an export is written (contract 1.6): what can be sent as it comes. */
export const exportFormats = ['ndjson', 'csv'] as const

export type PageFormat = (typeof pageFormats)[number]

/** What its rows are written as: a text each, or one Parquet file of all. */
export type RowFormat = Exclude<PageFormat, 'ndjson'>

/** Whether it is one of `pageFormats`, letter for letter. */
export function isPageFormat(text: string): text is PageFormat {
  return (pageFormats as readonly string[]).includes(text)
}

/** What the rows of such a page are written as. */
export function rowFormatOf(format: PageFormat): RowFormat {
  return format === 'ndjson' ? 'json' : format
}
