// What both writers of workbooks know of texts; browsers also run it.

/** The limits of Excel. */
export const sheetMax = { rows: 1_048_576, columns: 16_384, cellLetters: 32_767 } as const

/** Serial numbers of earlier days differ between spreadsheets: Excel takes 1900 for a leap year. */
export const firstDayMs = Date.UTC(1900, 2, 1)

/** A text that is longer than Excel opens, cut and marked. */
export function cutText(text: string): string {
  const mark = ` … [cut: ${text.length} characters]`
  return text.slice(0, sheetMax.cellLetters - mark.length).toWellFormed() + mark
}

/** Characters that XML lacks or the library leaves out, and `_` where an escape could be read. */
const special =
  // eslint-disable-next-line no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffd-\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g

/** A text with escapes by the rules of Office Open XML (ST_Xstring). */
export function escapedLetters(text: string): string {
  return text.replaceAll(
    special,
    (letter) => `_x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )
}

/** The same as XML. */
export function xmlText(text: string): string {
  return escapedLetters(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
