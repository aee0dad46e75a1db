import { parseUrl } from '../../../query/parse-url.js'
import { encodeList } from '../../../query/write-url.js'
import { readFilters, writeFilters } from './filters.js'
import type { Filter } from './filters.js'

/** A question for rows. */
export interface RowsQuestion {
  readonly filters: readonly Filter[]
  /** In display order; empty = all. */
  readonly select: readonly string[]
  /** Rows on a page; null = the dataset's default. */
  readonly limit: number | null
}

/** The question as the query string of a URL. */
export function writeRowsQuestion({ filters, select, limit }: RowsQuestion): string {
  return [
    ...writeFilters(filters),
    ...(select.length === 0 ? [] : [`select=${encodeList(select)}`]),
    ...(limit === null ? [] : [`limit=${limit}`]),
  ].join('&')
}

/** The path and query that export all rows of the question as CSV. */
export function pathOfExport(
  dataset: string,
  { filters, select }: Pick<RowsQuestion, 'filters' | 'select'>,
): string {
  const query = writeRowsQuestion({ filters, select, limit: null })
  return `/v1/${dataset}/export?${query}${query === '' ? '' : '&'}format=csv`
}

/**
 * Reads a question from a query string.
 * @throws bad_request for what can't be read
 */
export function readRowsQuestion(query: string): RowsQuestion {
  const { filters, select, limit } = parseUrl(query)
  return { filters: readFilters(filters), select: select ?? [], limit }
}
