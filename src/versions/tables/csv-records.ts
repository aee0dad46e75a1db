import { recordLettersMax, shownText } from './table.js'
import type { TableRow } from './table.js'

const [quote, lineFeed, carriageReturn] = [34, 10, 13] as const
const unclosed = 'a quote is opened and never closed; the lines after it were not read'
const tooLong = `over ${recordLettersMax} characters; what follows was not read`

/**
 * Splits the text of a CSV file into records (RFC 4180), with the exact line of each. A line may
 * end in LF, CR LF or CR. Quotes count only at the start of a field; `ООО "Ромашка"` is a text with
 * quotes in it. DuckDB's own reader drops a record whose quote is never closed.
 *
 * The function gives the records that end in the text so far; `isEnd` = no text follows.
 */
export function csvSplitter(separator: string) {
  let [rest, line, isStopped] = ['', 1, false]
  return (text: string, isEnd: boolean): readonly TableRow[] => {
    const whole = rest + text
    const rows: TableRow[] = []
    let at = 0
    while (at < whole.length && !isStopped) {
      const { end, hasQuotes, ...record } = recordAt(whole, at, separator)
      const isWhole = isEnd || end + 1 < whole.length
      if (!isWhole && whole.length - at <= recordLettersMax) break
      isStopped = !isWhole || record.problem === unclosed
      const next = whole.startsWith('\r\n', end) ? end + 2 : end + 1
      const text = whole.slice(at, next)
      rows.push({ line, text, ...(isWhole ? record : { problem: tooLong, ...record }) })
      line += hasQuotes ? (whole.slice(at, next).match(/\r\n?|\n/g)?.length ?? 0) : 1
      at = next
    }
    rest = isStopped ? '' : whole.slice(at)
    return rows
  }
}

/** The record and where its line break is, or the text ends. */
function recordAt(text: string, start: number, separator: string) {
  const cells: (string | null)[] = []
  let [at, hasQuotes] = [start, false]
  for (;;) {
    const isQuoted = text.charCodeAt(at) === quote
    hasQuotes ||= isQuoted
    const close = isQuoted ? closingQuote(text, at) : at
    if (close === -1) return { cells, end: text.length, hasQuotes, problem: unclosed }
    const end = endOfField(text, isQuoted ? close + 1 : at, separator)
    if (isQuoted && end > close + 1) {
      const lineEnd = endOfField(text, end, '\n')
      const near = shownText(text.slice(Math.max(start, close - 20), lineEnd))
      const problem = `text after a closing quote: ${near}`
      return { cells, end: lineEnd, hasQuotes, problem }
    }
    const cell = isQuoted ? text.slice(at + 1, close).replaceAll('""', '"') : text.slice(at, end)
    cells.push(cell || null)
    if (text[end] !== separator) return { cells, end, hasQuotes }
    at = end + 1
  }
}

/** -1 if the text ends before. */
function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at !== -1 && text.charCodeAt(at + 1) === quote) at = text.indexOf('"', at + 2)
  return at
}

/** The position of the next separator or line break, or the end of the text. */
function endOfField(text: string, start: number, separator: string): number {
  const code = separator.charCodeAt(0)
  let at = start
  for (; at < text.length; at++) {
    const letter = text.charCodeAt(at)
    if (letter === code || letter === lineFeed || letter === carriageReturn) break
  }
  return at
}
