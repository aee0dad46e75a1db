/**
 * A text as a cell of CSV (RFC 4180), exactly as it is: a name that was changed for spreadsheets
 * would be another column's. Quotes also keep a space at an end, which some readers drop.
 */
export function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
