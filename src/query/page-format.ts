/** How a page is written (contract 1.3). */
export const pageFormats = ['json', 'ndjson', 'csv'] as const

export type PageFormat = (typeof pageFormats)[number]

/** How each of its rows is. */
export type RowFormat = 'json' | 'csv'

/** Whether it is one of `pageFormats`, letter for letter. */
export function isPageFormat(text: string): text is PageFormat {
  return (pageFormats as readonly string[]).includes(text)
}

/** How the rows of such a page are written. */
export function rowFormatOf(format: PageFormat): RowFormat {
  return format === 'csv' ? 'csv' : 'json'
}
