import { quoted } from '../../text.js'
import { recordLettersMax } from './table.js'
import type { BadLines, TableRow } from './table.js'

const quote = 34
const lineFeed = 10
const carriageReturn = 13

/** What was read from one place: a record, a bad one, or nothing because more text is needed. */
type Found =
  | {
      readonly kind: 'record'
      readonly cells: (string | null)[]
      readonly hasQuotes: boolean
      readonly end: number
    }
  | { readonly kind: 'bad'; readonly problem: string; readonly end: number }
  | { readonly kind: 'more' }

/**
 * Splits the text of a CSV file into records (RFC 4180), with the exact line of each. A line may
 * end in LF, CR LF or CR. Quotes count only at the start of a field; `ООО "Ромашка"` is a text with
 * quotes in it. A line without any character is left out if there are several columns, and is an
 * empty value of a single column.
 */
export class CsvRecords {
  readonly #separator: string
  readonly #bad: BadLines
  #rest = ''
  #line = 1
  #isStopped = false

  constructor(separator: string, bad: BadLines) {
    this.#separator = separator
    this.#bad = bad
  }

  /** The records that end in the text so far; `isEnd` = no text follows. */
  read(text: string, isEnd: boolean): TableRow[] {
    const whole = this.#rest + text
    const rows: TableRow[] = []
    let position = 0
    while (position < whole.length && !this.#isStopped) {
      const found = this.#recordAt(whole, position, isEnd)
      if (found.kind === 'more') break
      if (found.kind === 'bad') this.#bad.add(this.#line, found.problem)
      else rows.push({ line: this.#line, cells: found.cells })
      const isPlain = found.kind === 'record' && !found.hasQuotes
      this.#line += isPlain ? 1 : lineBreaks(whole, position, found.end)
      position = found.end
    }
    this.#rest = this.#isStopped ? '' : whole.slice(position)
    return rows
  }

  #recordAt(text: string, start: number, isEnd: boolean): Found {
    const separator = this.#separator.charCodeAt(0)
    const cells: (string | null)[] = []
    let [position, hasQuotes] = [start, false]
    for (;;) {
      const isQuoted = text.charCodeAt(position) === quote
      hasQuotes ||= isQuoted
      const end = isQuoted ? endOfQuoted(text, position) : endOfPlain(text, position, separator)
      if (end === -1) return this.#unclosed(text, start, isEnd)
      if (end >= text.length && !isEnd) return this.#unclosed(text, start, isEnd)
      cells.push(isQuoted ? unquoted(text, position, end) : text.slice(position, end) || null)
      const next = text.charCodeAt(end)
      if (next === separator) position = end + 1
      else if (end >= text.length) return { kind: 'record', cells, hasQuotes, end }
      else if (next === lineFeed || next === carriageReturn) {
        if (end + 1 >= text.length && !isEnd) return { kind: 'more' }
        return { kind: 'record', cells, hasQuotes, end: afterBreak(text, end) }
      } else return badAfterQuote(text, start, end, isEnd)
    }
  }

  /** Text that ends inside of a field. */
  #unclosed(text: string, start: number, isEnd: boolean): Found {
    if (!isEnd && text.length - start < recordLettersMax) return { kind: 'more' }
    this.#isStopped = true
    const problem = 'a quote is opened and never closed; the lines after it were not read'
    return { kind: 'bad', problem, end: text.length }
  }
}

/** The position after the closing quote; -1 if the text ends before. */
function endOfQuoted(text: string, start: number): number {
  let position = start + 1
  for (;;) {
    const at = text.indexOf('"', position)
    if (at === -1) return -1
    if (text.charCodeAt(at + 1) !== quote) return at + 1
    position = at + 2
  }
}

function endOfPlain(text: string, start: number, separator: number): number {
  let position = start
  for (; position < text.length; position++) {
    const code = text.charCodeAt(position)
    if (code === separator || code === lineFeed || code === carriageReturn) break
  }
  return position
}

function unquoted(text: string, start: number, end: number): string | null {
  return text.slice(start + 1, end - 1).replaceAll('""', '"') || null
}

/** The record ends with its line, so that the lines after it are read. */
function badAfterQuote(text: string, start: number, from: number, isEnd: boolean): Found {
  let end = from
  while (end < text.length && !isBreak(text, end)) end++
  if (end >= text.length - 1 && !isEnd) return { kind: 'more' }
  const shown = quoted(text.slice(Math.max(start, from - 20), Math.min(end, from + 10)))
  return {
    kind: 'bad',
    problem: `text after a closing quote: ${shown}`,
    end: afterBreak(text, end),
  }
}

function isBreak(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === lineFeed || code === carriageReturn
}

function afterBreak(text: string, at: number): number {
  const isPair = text.charCodeAt(at) === carriageReturn && text.charCodeAt(at + 1) === lineFeed
  return at + (isPair ? 2 : 1)
}

function lineBreaks(text: string, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === lineFeed) count++
    else if (code === carriageReturn && text.charCodeAt(at + 1) !== lineFeed) count++
  }
  return count
}
