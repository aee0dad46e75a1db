import { isOperator, operators } from '../../../columns/operators.js'
import type { Operator } from '../../../columns/operators.js'
import type { RawFilter } from '../../../query/raw-question.js'
import { encodeForUrl, encodeList } from '../../../query/write-url.js'

export interface Filter {
  readonly column: string
  readonly operator: Operator
  /** One value; several for a list; empty for operators without a value. */
  readonly values: readonly string[]
}

/** The filters as parameters of a query string. */
export function writeFilters(filters: readonly Filter[]): readonly string[] {
  return filters.map((filter) => `${encodeForUrl(filter.column)}=${writeFilter(filter)}`)
}

/** The filters of a parsed query string; those with an unknown operator are left out. */
export function readFilters(filters: readonly RawFilter[]): readonly Filter[] {
  return filters.flatMap(({ column, operator, values }) =>
    isOperator(operator) ? [{ column, operator, values: values.map(String) }] : [],
  )
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
