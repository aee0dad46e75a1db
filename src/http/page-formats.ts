import { ServiceError } from '../errors.js'
import type { PageFormat } from '../query/page-format.js'
import type { Page } from '../service/page.js'
import { csvCell } from '../text.js'
import { readPreferences } from './accept.js'
import type { Preference } from './accept.js'

export const mediaTypes: Readonly<Record<PageFormat, string>> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
}

/**
 * Of these formats the one that the caller likes best, by RFC 9110; the first among equals.
 * @throws not_acceptable when the caller takes none
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

/** What the range that names the type most closely says; 0 where none does. */
function qualityOf(format: PageFormat, ranges: readonly Preference[]): number {
  const [type = ''] = mediaTypes[format].split(';', 1)
  const [family = ''] = type.split('/', 1)
  for (const name of [type, `${family}/*`, '*/*']) {
    const range = ranges.find((each) => each.name === name)
    if (range) return range.quality
  }
  return 0
}

/** The page as its format has it; only JSON has room for the cursor. */
export function pageBody({ format, rows, columns, nextCursor }: Page): Buffer {
  switch (format) {
    case 'json':
      return joined('{"data":[', rows, ',', `],"next_cursor":${JSON.stringify(nextCursor)}}`)
    case 'ndjson':
      return linesOf(rows, '\n')
    case 'csv':
      return linesOf([csvHeader(columns), ...rows], '\r\n')
    case 'parquet':
      return Buffer.concat(rows)
  }
}

/** The first line of CSV, without its end. */
export function csvHeader(columns: readonly string[]): Buffer {
  return Buffer.from(columns.map(csvCell).join())
}

/** Rows as lines, each with its end. */
export function linesOf(rows: readonly Buffer[], end: string): Buffer {
  return joined('', rows, end, rows.length === 0 ? '' : end)
}

/** Rows are joined as bytes: one never becomes an object, which would reorder its keys. */
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
 * The request's question with the cursor of the next page, for `Link: <?…>; rel="next"`
 * (RFC 8288): relative, so that it is right behind any proxy. Null where it is too long for the
 * headers that clients accept.
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
