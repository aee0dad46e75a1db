import { isOperator, operators } from '../columns/operators.js'
import { ServiceError, badRequest } from '../errors.js'
import { quoted } from '../text.js'
import { headingNames, parseHeadings } from './headings.js'
import { isPageFormat, pageFormats } from './page-format.js'
import type { PageFormat } from './page-format.js'
import { parseList } from './parse-list.js'
import type { RawFilter, RawQuestion } from './raw-question.js'
import { writtenName } from './write-url.js'

const parameterNames = ['limit', 'cursor', 'format', 'excel', 'explain', ...headingNames]
/** A filter on a column of such a name has an operator: `explain=eq.x`. */
const lateNames = ['excel', 'explain', 'since', 'watch', ...headingNames]

/**
 * Parses the question of a raw query string, `inn=eq.7708004767&select=year,2110&limit=10`. A `+`
 * is a space, like in HTML forms. Columns and values are checked later.
 * @throws bad_request for encoding, repeated parameters and malformed filters; not_acceptable for a
 *   format that is not served
 */
export function parseUrl(query: string): RawQuestion {
  const { filters, parameters, lists } = readParameters(query, parameterNames, ['select'])
  return {
    filters,
    select: parseSelect(lists.get('select')),
    limit: parseLimit(parameters.get('limit')),
    cursor: parameters.get('cursor') ?? null,
    format: parseFormat(parameters.get('format'), parameters.get('excel')),
    ...(parameters.has('explain') && { explain: parseFlag('explain', parameters.get('explain')) }),
    ...parseHeadings(parameters),
  }
}

/**
 * Returns the columns of a list that is written with commas, or as a parameter for each element, as
 * generated clients do; null without one.
 * @throws bad_request for what can't be read
 */
export function parseSelect(texts: readonly string[] | undefined): readonly string[] | null {
  return texts?.flatMap((text) => parseList(text, 'select')) ?? null
}

/** The parts of a query string: filters, and parameters by name. */
export interface Parameters {
  readonly filters: readonly RawFilter[]
  readonly parameters: ReadonlyMap<string, string>
  /** The values of parameters that may be repeated, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>
}

/**
 * Splits a raw query string. Every name that is not in `names` or `listNames` is a column's;
 * parameters of `listNames` may be repeated.
 * @throws bad_request for encoding, repeated parameters and malformed filters
 */
export function readParameters(
  query: string,
  names: readonly string[],
  listNames: readonly string[],
): Parameters {
  const filters: RawFilter[] = []
  const parameters = new Map<string, string>()
  const lists = new Map<string, string[]>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const end = part.indexOf('=')
    const name = decode(end === -1 ? part : part.slice(0, end))
    const value = end === -1 ? undefined : decode(part.slice(end + 1))
    if (listNames.includes(name)) {
      const list = lists.get(name) ?? []
      list.push(value ?? '')
      lists.set(name, list)
    } else if (!names.includes(name) || isLateFilter(name, value)) {
      filters.push(parseFilter(name, value))
    } else if (parameters.has(name)) throw badRequest(`"${name}" is given twice. Send it once.`)
    else parameters.set(name, value ?? '')
  }
  return { filters, parameters, lists }
}

/** @throws bad_request for an empty parameter that may be left out; `needed` may not */
export function requireValues({ parameters, lists }: Parameters, needed: string): void {
  for (const [name, value] of [...parameters, ...lists]) {
    const isEmpty = name !== needed && [value].flat().includes('')
    if (isEmpty) throw badRequest(`"${name}" is empty. Leave it out.`)
  }
}

function isLateFilter(name: string, value: string | undefined): boolean {
  const [operator = ''] = value?.split('.', 1) ?? []
  return lateNames.includes(name) && isOperator(operator)
}

/**
 * The value of a parameter that is true or false; false without one.
 * @throws bad_request for another text
 */
export function parseFlag(name: string, text = 'false'): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw badRequest(`${name} must be true or false, got ${quoted(text)}.`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badRequest('The URL has a broken percent-encoding or is not UTF-8. Encode "%" as %25.')
  }
}

/**
 * Returns the format of a name; null without one. `excel` makes CSV for Excel of CSV.
 * @throws not_acceptable for a format that is not served; bad_request for a malformed `excel`
 */
export function parseFormat(format: string | undefined, excel?: string): PageFormat | null {
  if (parseFlag('excel', excel)) {
    if (format !== 'csv') throw badRequest('excel=true needs format=csv. Or send format=xlsx.')
    return 'csv-comma'
  }
  if (format === undefined) return null
  if (isPageFormat(format)) return format
  const known = pageFormats.join(', ')
  throw new ServiceError('not_acceptable', `format must be one of ${known}, got ${quoted(format)}.`)
}

/**
 * Returns a limit as a number; null without one.
 * @throws bad_request if it is not a whole number
 */
export function parseLimit(text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^\d{1,15}$/.test(text)) {
    throw badRequest(`limit must be a whole number, got ${quoted(text)}. Example: limit=100`)
  }
  return Number(text)
}

/** Parses `<operator>.<value>`: the value is everything after the first dot, unchanged. */
function parseFilter(column: string, text: string | undefined): RawFilter {
  const shown = quoted(column)
  const written = writtenName(column)
  if (text === undefined) {
    throw badRequest(`Parameter ${shown} has no value. Example: ${written}=eq.value`)
  }
  const dot = text.indexOf('.')
  const operator = dot === -1 ? text : text.slice(0, dot)
  if (!isOperator(operator)) {
    // The value is for the corrected filter in the error.
    return { column, operator, values: dot === -1 ? [] : [text.slice(dot + 1)], isList: false }
  }
  const { form } = operators[operator]
  if (form === 'none') {
    if (dot !== -1) {
      throw badRequest(`${shown}: ${operator} takes no value. Write ${written}=${operator}`)
    }
    return { column, operator, values: [], isList: false }
  }
  if (dot === -1) {
    throw badRequest(`${shown}: ${operator} needs a value. Write ${written}=${operator}.value`)
  }
  const value = text.slice(dot + 1)
  const values = form === 'list' ? parseList(value, `${shown}: ${operator}`) : [value]
  return { column, operator, values, isList: form === 'list' }
}
