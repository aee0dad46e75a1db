import { correctable } from '../columns/correction.js'
import type { Correction } from '../columns/correction.js'
import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { isOperator, operatorNames } from '../columns/operators.js'
import type { Operator } from '../columns/operators.js'
import { insteadContains } from '../columns/search-words.js'
import { badRequest } from '../errors.js'
import type { ServiceError } from '../errors.js'
import { quoted } from '../text.js'
import type { RawFilter } from './raw-question.js'

/** What a request asks for; each has its own parameters. */
export type Asked = 'rows' | 'top' | 'aggregate'

interface ParameterMistake {
  /** In lower case, without `$`, `_` and `-`. */
  readonly names: readonly string[]
  /** What works here, for every request or for each kind. */
  readonly instead: string | Readonly<Record<Asked, string>>
  /** The parameter, of each kind that has one, that takes the same value. */
  readonly renamed?: Readonly<Partial<Record<Asked, string>>>
}

const onePage = 'There is one page: use a larger limit.'
const totals = 'For totals, ask aggregate with group and measures.'

/** Parameters of other services. A dataset's own column of such a name is a column. */
const parameters: readonly ParameterMistake[] = [
  {
    names: ['accesstoken', 'token', 'apikey', 'auth', 'authorization', 'bearer'],
    instead: 'A token goes in the header "Authorization: Bearer <token>", nowhere else.',
  },
  {
    names: ['offset', 'skip', 'start', 'page', 'pagenumber', 'after', 'cursor'],
    instead: {
      rows: 'Pages follow by cursor: send the next_cursor of an answer as cursor.',
      top: onePage,
      aggregate: onePage,
    },
  },
  {
    names: ['perpage', 'pagesize', 'size', 'count', 'first', 'maxresults', 'rows', 'take'],
    instead: 'Use limit.',
  },
  {
    names: ['order', 'orderby', 'sort', 'sortby', 'ordering'],
    instead: {
      rows:
        'Rows come in stored order. For the first rows by one column, ask top with by=column, ' +
        'or by=-column for the largest.',
      top: 'Use by: by=column for the smallest first, by=-column for the largest.',
      aggregate: 'Use order.',
    },
    renamed: { aggregate: 'order' },
  },
  {
    names: ['fields', 'columns', 'cols', 'select'],
    instead: { rows: 'Use select.', top: 'Use select.', aggregate: 'Use group and measures.' },
    renamed: { rows: 'select', top: 'select' },
  },
  {
    names: ['q', 'query', 'search', 'filter', 'where'],
    instead: 'Use filters of column, operator and value; contains searches words in a text.',
  },
  {
    names: ['group', 'groupby'],
    instead: { rows: totals, top: totals, aggregate: 'Use group.' },
  },
  {
    names: ['measure', 'measures', 'metrics', 'aggregate', 'aggregates'],
    instead: { rows: totals, top: totals, aggregate: 'Use measures.' },
    renamed: { aggregate: 'measures' },
  },
]

/** What works instead of a parameter of another service; undefined for any other name. */
export function insteadOf(name: string, asked: Asked): Instead | undefined {
  const plain = name.toLowerCase().replaceAll(/[$_-]/g, '')
  const found = parameters.find(({ names }) => names.includes(plain))
  if (!found) return undefined
  const { instead, renamed } = found
  const meant = renamed?.[asked]
  return {
    advice: typeof instead === 'string' ? instead : instead[asked],
    correction: meant === undefined ? undefined : { kind: 'rename', key: name, meant },
  }
}

interface Instead {
  readonly advice: string
  readonly correction: Correction | undefined
}

/** What a request with the wrong method of a data path needs, by the path's route. */
export const methodAdvice: ReadonlyMap<string, string> = new Map([
  ['/v1/:dataset', 'A question as a JSON body goes to POST /v1/<dataset>/query.'],
  ['/v1/:dataset/query', 'A question in the URL goes to GET /v1/<dataset>.'],
  ['/v1/:dataset/top', 'The question goes in the URL.'],
  ['/v1/:dataset/export', 'The question goes in the URL.'],
])

/** The error for an element of `select` that asks for more than one column. */
export function selectMistake(name: string): ServiceError | undefined {
  if (name === '*') {
    return badRequest('select takes names of columns, got "*". Leave select out for all columns.')
  }
  if (!/^\w+\(.*\)$/s.test(name)) return undefined
  return badRequest(`select takes names of columns, got ${quoted(name)}. ${totals}`)
}

/** Names that other languages use for operators, in lower case. */
const otherNames: Readonly<Partial<Record<Operator, readonly string[]>>> = {
  eq: ['=', '==', 'equal', 'equals'],
  ne: ['!=', '<>', 'neq', 'not_equal', 'not_equals'],
  gt: ['>', 'greater_than'],
  gte: ['>=', 'ge', 'greater_than_or_equal'],
  lt: ['<', 'less_than'],
  lte: ['<=', 'le', 'less_than_or_equal'],
  not_in: ['nin', 'notin'],
  is_null: ['isnull'],
  not_null: ['notnull', 'is_not_null', 'isnotnull'],
}

/** The operator that is known by another name, case or spacing; undefined for other words. */
export function meantOperator(written: string): Operator | undefined {
  const plain = written
    .trim()
    .toLowerCase()
    .replace(/^\$/, '')
    .replaceAll(/[\s-]+/g, '_')
  // `kpp==is_null` has one "=" too many.
  const bare = plain.replace(/^=/, '')
  return isOperator(bare) ? bare : operatorNames.find((each) => otherNames[each]?.includes(plain))
}

interface FilterMistake {
  readonly operator: RegExp
  /** The empty text stands for no value. */
  readonly value: RegExp
  /** The operator that works here. */
  readonly op: Operator
  /** The value that works here, as a replacement for what `value` matches; none if omitted. */
  readonly meant?: string
  /** Ends the error of a column of texts. */
  readonly note?: string
  /** In a column of texts the value is a text like any other. */
  readonly isText?: true
}

const searchNames =
  'i?contain|icontains|has|includes?|search|substring|substr|ilike|match|imatch|regexp?|rlike|' +
  'glob|(?:pl|ph|w)?fts|~{1,2}[*]?'

/** Filters in the words of other services and of SQL. The first that fits decides. */
const filters: readonly FilterMistake[] = [
  { operator: /^=?null$/i, value: /^$/, op: 'is_null' },
  { operator: /^!=?null$/i, value: /^$/, op: 'not_null' },
  { operator: /^is$/i, value: /^(?:null)?$/i, op: 'is_null' },
  { operator: /^is$/i, value: /^not[._ ]null$/i, op: 'not_null' },
  { operator: /^is$/i, value: /^(true|false)$/, op: 'eq', meant: '$1' },
  { operator: /^(?:is_?)?not$/i, value: /^(?:is\.)?null$/i, op: 'not_null' },
  { operator: /^not$/i, value: /^eq\.([^]*)$/, op: 'ne', meant: '$1' },
  { operator: /^(?:eq|=|==)$/, value: /^null$/i, op: 'is_null', isText: true },
  { operator: /^(?:ne|neq|!=|<>)$/, value: /^null$/i, op: 'not_null', isText: true },
  { operator: /^starts_?with$/i, value: /^([^*]+)$/, op: 'like', meant: '$1*' },
  {
    operator: /^like$/,
    value: /^([^%*]+)%$/,
    op: 'like',
    meant: '$1*',
    note: 'In like, % is an ordinary character; for the text itself, use eq.',
  },
  { operator: /^like$/, value: /^%$/, op: 'not_null' },
  { operator: /^like$/, value: /^(?:%[^*]+%|[*].+)$/s, op: 'contains' },
  { operator: new RegExp(`^(?:${searchNames})$`, 'i'), value: /^/, op: 'contains' },
]

/**
 * The error for a filter in the words of another service, with the filter that works. Undefined
 * for any other filter, or a column without that operator.
 */
export function filterMistake(column: Column, filter: RawFilter): ServiceError | undefined {
  const { operator, values, isList } = filter
  const [value = ''] = values
  if (isList || typeof value !== 'string') return undefined
  const allowed = columnOperators(column)
  const hasTexts = column.rules.shown === 'string'
  const found = filters.find(
    (each) =>
      allowed.includes(each.op) &&
      each.operator.test(operator) &&
      each.value.test(value) &&
      !(hasTexts && each.isText),
  )
  return found && filterError(column, operator, value, found)
}

/** A longer value is not repeated in an error. */
const shownMax = 60

function filterError(
  { name: column, rules }: Column,
  operator: string,
  written: string,
  { value: pattern, op, meant, note }: FilterMistake,
): ServiceError {
  const start = `Column ${quoted(column)}: `
  const unknown = isOperator(operator) ? '' : `there is no operator ${quoted(operator)}. `
  if (op === 'contains') {
    const { advice, correction } = insteadContains(column, operator, written)
    const why = unknown || 'like finds texts by their beginning, with one * at the end. '
    return correctable(start + why + advice, correction)
  }
  const value = meant === undefined ? undefined : written.replace(pattern, meant)
  const shown = value !== undefined && value.length > shownMax ? 'value' : value
  const filter = `${column}=${op}${shown === undefined ? '' : `.${shown}`}`
  const end = note === undefined || rules.shown !== 'string' ? '' : `. ${note}`
  const advice = `${unknown === '' ? 'write' : 'Write'} ${filter}${end}`
  return correctable(start + unknown + advice, {
    kind: 'filter',
    column,
    operator,
    meant: { column, op, ...(value !== undefined && { value }) },
  })
}
