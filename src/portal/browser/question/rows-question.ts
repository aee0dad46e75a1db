import { callName, parseDirectedCalls } from '../../../columns/call-text.js'
import { parseLimit, parseSelect, parseUrl, readParameters } from '../../../query/parse-url.js'
import { badRequest } from '../../../errors.js'
import { encodeForUrl, encodeList } from '../../../query/write-url.js'
import { readFilters, writeFilters } from './filters.js'
import type { Filter } from './filters.js'

/** The column whose least or greatest values come first. */
export interface Order {
  readonly column: string
  readonly isDescending: boolean
}

/** A question for rows. */
export interface RowsQuestion {
  readonly filters: readonly Filter[]
  /** In display order; empty = all. */
  readonly select: readonly string[]
  /** Rows on a page; null = the dataset's default. */
  readonly limit: number | null
  /** Null = the stored order, page by page; with an order, only the first rows are to be had. */
  readonly order: Order | null
}

/** The question as the query string of a URL. */
export function writeRowsQuestion({ filters, select, limit, order }: RowsQuestion): string {
  const sign = order?.isDescending === true ? '-' : ''
  return [
    ...(order === null ? [] : [`by=${sign}${encodeForUrl(callName(order.column))}`]),
    ...writeFilters(filters),
    ...(select.length === 0 ? [] : [`select=${encodeList(select)}`]),
    ...(limit === null ? [] : [`limit=${limit}`]),
  ].join('&')
}

/** What a question is asked for: rows in stored order, or the first by a column. */
export function kindOf({ order }: Pick<RowsQuestion, 'order'>): 'rows' | 'top' {
  return order === null ? 'rows' : 'top'
}

/** The path and query that export all rows of the question as CSV. */
export function pathOfExport(
  dataset: string,
  { filters, select }: Pick<RowsQuestion, 'filters' | 'select'>,
): string {
  const query = writeRowsQuestion({ filters, select, limit: null, order: null })
  return `/v1/${dataset}/export?${query}${query === '' ? '' : '&'}format=csv`
}

/**
 * Reads a question from a query string.
 * @throws bad_request for what can't be read
 */
export function readRowsQuestion(query: string): RowsQuestion {
  const { filters, select, limit } = parseUrl(query)
  return { filters: readFilters(filters), select: select ?? [], limit, order: null }
}

/**
 * Reads a question for the first rows by a column from a query string.
 * @throws bad_request for what can't be read
 */
export function readTopQuestion(query: string): RowsQuestion {
  const { filters, parameters, lists } = readParameters(query, ['by', 'limit'], ['select'])
  const [by, ...more] = parseDirectedCalls(parameters.get('by') ?? '', 'by')
  if (!by || more.length > 0 || by.call.operands !== null) throw badRequest('by takes one column.')
  return {
    filters: readFilters(filters),
    select: parseSelect(lists.get('select')) ?? [],
    limit: parseLimit(parameters.get('limit')),
    order: { column: by.call.name, isDescending: by.isDescending },
  }
}
