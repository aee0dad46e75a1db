import { operators } from '../../../columns/operators.js'
import type { Operator } from '../../../columns/operators.js'
import { parseUrl } from '../../../query/parse-url.js'
import { encodeForUrl, encodeList } from '../../../query/write-url.js'

export interface Filter {
  readonly column: string
  readonly operator: Operator
  /** One value; several for a list; empty for operators without a value. */
  readonly values: readonly string[]
}

export interface Question {
  readonly filters: readonly Filter[]
  /** In display order; empty = all. */
  readonly select: readonly string[]
  readonly limit: number
}

/** The question as the query string of a URL. */
export function writeQuestion({ filters, select, limit }: Question): string {
  return [
    ...filters.map((filter) => `${encodeForUrl(filter.column)}=${writeFilter(filter)}`),
    ...(select.length === 0 ? [] : [`select=${encodeList(select)}`]),
    `limit=${limit}`,
  ].join('&')
}

/** Reads filters and columns from a query string written by the server. */
export function readQuestion(query: string): Omit<Question, 'limit'> {
  const { filters, select } = parseUrl(query)
  return {
    filters: filters.map(({ column, operator, values }) => ({
      column,
      // The server wrote this query, so the operator is valid.
      operator: operator as Operator,
      values: values.map(String),
    })),
    select: select ?? [],
  }
}

function writeFilter({ operator, values }: Filter): string {
  const [value = ''] = values
  switch (operators[operator].form) {
    case 'none':
      return operator
    case 'list':
      return `${operator}.${encodeList(values)}`
    case 'pattern':
      return `${operator}.${encodeForUrl(value.endsWith('*') ? value : `${value}*`)}`
    case 'one':
    case 'words':
      return `${operator}.${encodeForUrl(value)}`
  }
}
