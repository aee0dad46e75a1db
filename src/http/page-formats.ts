import { ServiceError } from '../errors.js'
import { isSheetFormat, mediaTypes } from '../query/page-format.js'
import type { PageFormat } from '../query/page-format.js'
import type { AnswerHead, GroupsAnswer, Page } from '../service/page.js'
import { csvCell } from '../text.js'
import { readPreferences } from './accept.js'
import type { Preference } from './accept.js'
import { sheetColumn } from '../sheet/sheet.js'
import type { Sheet } from '../sheet/sheet.js'
import type { SheetWriter } from '../sheet/sheet-writer.js'

/**
 * Returns the caller's preferred format, by RFC 9110; the first one breaks ties.
 * @throws not_acceptable if the caller accepts none
 */
export function acceptedFormat<Format extends PageFormat>(
  accept: string | undefined,
  formats: readonly Format[],
): Format {
  const ranges = readPreferences(accept?.trim() || '*/*')
  const [best] = formats
    .map((format) => ({ format, quality: qualityOf(format, ranges) }))
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
  if (best) return best.format
  const known = formats.map((format) => mediaTypes[format].split(';', 1)[0])
  throw new ServiceError('not_acceptable', `Accept must allow one of ${known.join(', ')}.`)
}

/** The weight of the most specific range that matches the type; 0 if none matches. */
function qualityOf(format: PageFormat, ranges: readonly Preference[]): number {
  const [type = ''] = mediaTypes[format].split(';', 1)
  const [family = ''] = type.split('/', 1)
  for (const name of [type, `${family}/*`, '*/*']) {
    const range = ranges.find((each) => each.name === name)
    if (range) return range.quality
  }
  return 0
}

/** The value of `Content-Disposition` that saves an answer as a file. */
export function attachment(
  dataset: string,
  { format, version }: Pick<AnswerHead, 'format' | 'version'>,
): string {
  return `attachment; filename="${dataset}-${version.id}.${format.split('-', 1)[0]}"`
}

/** What a file of a spreadsheet says about its rows. */
export interface SheetTexts {
  /** The name of the sheet with the rows. */
  readonly dataset: string
  readonly about: Sheet['about']
}

/** The rows or groups in their format; only JSON and workbooks include facts about them. */
export async function bodyOf(
  answer: Page | GroupsAnswer,
  { dataset, about }: SheetTexts,
  sheets: SheetWriter,
): Promise<Buffer> {
  const { format, rows, columns } = answer
  const headings = headingsIn(answer)
  if (isSheetFormat(format)) {
    const named = columns.map((column, at) => sheetColumn(column, headings[at]))
    // A copy of its own: the lines move to the thread that writes the file.
    const lines = new Uint8Array(linesOf(rows, '\n'))
    return sheets.write({ format, tables: [{ name: dataset, columns: named, lines }], about })
  }
  switch (format) {
    case 'json':
      return joined('{"data":[', rows, ',', `],${JSON.stringify(factsOf(answer)).slice(1)}`)
    case 'ndjson':
      return linesOf(rows, '\n')
    case 'csv':
      return linesOf([csvHeader(headings), ...rows], '\r\n')
    case 'parquet':
      return Buffer.concat(rows)
  }
}

function factsOf(answer: Page | GroupsAnswer): object {
  if (answer.kind === 'page') return { next_cursor: answer.nextCursor, ...answer.facts }
  const { groups, rowsMet, truncated } = answer
  return { groups, rows: rowsMet, truncated }
}

/** The first line of CSV, without its line end. */
export function csvHeader(headings: readonly string[]): Buffer {
  return Buffer.from(headings.map((each) => csvCell(each)).join())
}

/** What the first line of a file says of the columns. */
export function headingsIn({
  columns,
  headings,
}: Pick<Page, 'columns' | 'headings'>): readonly string[] {
  return headings ?? columns.map(({ name }) => name)
}

/** Rows as lines, each with its line end. */
export function linesOf(rows: readonly Buffer[], end: string): Buffer {
  return joined('', rows, end, rows.length === 0 ? '' : end)
}

/** Joins rows as bytes: parsing a row would reorder its keys. */
function joined(start: string, rows: readonly Buffer[], between: string, end: string): Buffer {
  const [first, comma, last] = [Buffer.from(start), Buffer.from(between), Buffer.from(end)]
  const gaps = Math.max(rows.length - 1, 0) * comma.length
  const bytes = rows.reduce((sum, row) => sum + row.length, first.length + gaps + last.length)
  const body = Buffer.allocUnsafe(bytes)
  let place = 0
  const add = (part: Buffer) => {
    body.set(part, place)
    place += part.length
  }
  add(first)
  for (const [index, row] of rows.entries()) {
    if (index > 0) add(comma)
    add(row)
  }
  add(last)
  return body
}

const linkLettersMax = 4000

/**
 * Returns the request's question with the cursor of the next page, for `Link: <?…>; rel="next"`
 * (RFC 8288). The link is relative, so it is right behind any proxy. Null if the link is too long
 * for the headers that clients accept.
 */
export function nextLink(query: string, cursor: string): string | null {
  const others = query.split('&').filter((part) => part !== '' && !isCursor(part))
  const next = `?${[...others, `cursor=${cursor}`].join('&')}`
  const safe = next.replaceAll('<', '%3C').replaceAll('>', '%3E')
  return safe.length <= linkLettersMax ? `<${safe}>; rel="next"` : null
}

function isCursor(part: string): boolean {
  const [name = ''] = part.split('=', 1)
  return decodeURIComponent(name.replaceAll('+', ' ')) === 'cursor'
}
