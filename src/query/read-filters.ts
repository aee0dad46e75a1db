import { correctable } from '../columns/correction.js'
import { setImmediate } from 'node:timers/promises'
import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { isOperator, operatorNames, operators } from '../columns/operators.js'
import type { Operator } from '../columns/operators.js'
import { filterPredicates, predicateKey, requireOperator } from '../columns/predicate.js'
import type { Predicate } from '../columns/predicate.js'
import { badRequest } from '../errors.js'
import type { ServiceError } from '../errors.js'
import { article, didYouMean, quoted } from '../text.js'
import { filterMistake, meantOperator } from './common-mistakes.js'
import { filtersMax, isLong, listValuesMax, searchWordsMax } from './raw-question.js'
import type { RawFilter, RawValue } from './raw-question.js'

/** A valid filter of a caller: a row meets it if the row meets every predicate. */
export interface Filter {
  readonly column: Column
  readonly operator: Operator
  /** The values in URL form. */
  readonly texts: readonly string[]
  /** Empty if every row passes. */
  readonly predicates: readonly Predicate[]
}

/** Adds a key for each predicate; equal conditions have equal keys. */
export interface ReadFilter extends Filter {
  readonly keys: readonly string[]
}

/**
 * Resolves a caller's filters. `find` returns the column of a name, or refuses the name. Of a long
 * question, other requests run after each filter.
 * @throws bad_request naming the column, its type and what it takes
 */
export async function readFilters(
  filters: readonly RawFilter[],
  find: (name: string) => Column,
): Promise<readonly ReadFilter[]> {
  if (filters.length > filtersMax) {
    const given = filters.length
    throw badRequest(`A request has at most ${filtersMax} filters; this one has ${given}.`)
  }
  const isInTurns = isLong(filters)
  const read: ReadFilter[] = []
  for (const filter of filters) {
    addFilter(read, readFilter(filter, find))
    if (isInTurns) await setImmediate()
  }
  return read
}

/** A text that is equal for filters that keep the same rows, whatever their order. */
export function filtersKey(filters: readonly ReadFilter[]): string {
  return filters
    .flatMap(({ keys }) => keys)
    .sort()
    .join()
}

/** @throws bad_request if the searches have too many words together */
function addFilter(read: ReadFilter[], filter: ReadFilter): void {
  read.push(filter)
  const words = read.reduce(
    (sum, { operator, predicates }) => sum + (operator === 'contains' ? predicates.length : 0),
    0,
  )
  if (words <= searchWordsMax) return
  throw badRequest(`A request searches for at most ${searchWordsMax} words; this one for more.`)
}

function readFilter(filter: RawFilter, find: (name: string) => Column): ReadFilter {
  const column = find(filter.column)
  const operator = checkOperator(column, filter)
  const texts = checkValues(column, operator, filter)
  const predicates = filterPredicates(column, operator, texts)
  return { column, operator, texts, predicates, keys: predicates.map(predicateKey) }
}

function checkOperator(column: Column, filter: RawFilter): Operator {
  const mistake = filterMistake(column, filter)
  if (mistake) throw mistake
  const { operator } = filter
  if (isOperator(operator)) {
    requireOperator(column, operator)
    return operator
  }
  const allowed = columnOperators(column)
  const isWord = /^[a-z_]{1,20}$/.test(operator)
  const known = meantOperator(operator)
  const guess = isWord ? didYouMean(operator, operatorNames) : ` Write ${usage(column, operator)}.`
  const advice = known === undefined ? guess : ` Did you mean "${known}"?`
  throw correctable(
    `Column ${quoted(column.name)}: there is no operator ${quoted(operator)}.${advice} ` +
      `It has: ${allowed.join(', ')}.`,
    known !== undefined && allowed.includes(known)
      ? { kind: 'operator', column: column.name, written: operator, meant: known }
      : undefined,
  )
}

/** `year=gte.value` for `year=>=2020`, else `inn=eq.value` or `tags=is_null`. */
function usage(column: Column, written: string): string {
  const allowed = columnOperators(column)
  const [sign = ''] = /^[<>=!]+/.exec(written) ?? []
  const meant = meantOperator(sign)
  const [first = 'is_null'] = allowed
  const operator = meant !== undefined && allowed.includes(meant) ? meant : first
  return `${column.name}=${operator}${operators[operator].form === 'none' ? '' : '.value'}`
}

function checkValues(column: Column, operator: Operator, filter: RawFilter): readonly string[] {
  const { form } = operators[operator]
  const { values, isList } = filter
  const name = `Column ${quoted(column.name)}: ${operator}`
  if (form === 'none') {
    if (values.length === 0 && !isList) return []
    const isSaid = values.length === 1 && values[0] === true
    const meant = { column: column.name, op: operator }
    throw correctable(
      `${name} takes no value.`,
      isSaid ? { kind: 'filter', column: column.name, operator, meant } : undefined,
    )
  }
  if (isList !== (form === 'list')) throw wrongForm(column, operator, filter)
  if (values.length === 0) {
    const advice = isList ? '' : ' Empty values are found by is_null.'
    throw badRequest(`${name} needs a value.${advice}`)
  }
  if (values.length > listValuesMax) {
    throw badRequest(`${name} takes at most ${listValuesMax} values; there are ${values.length}.`)
  }
  return values.map((value) => textOf(column, value))
}

/** The operators that take a list of values in the place of one. */
const listForms: ReadonlyMap<Operator, Operator> = new Map([
  ['eq', 'in'],
  ['ne', 'not_in'],
])

/** The error for one value in the place of a list, or a list in the place of one value. */
function wrongForm(
  { name: column, rules }: Column,
  operator: Operator,
  { values, isList }: RawFilter,
): ServiceError {
  const refuse = (taken: string, op?: Operator, value: readonly RawValue[] = values) =>
    correctable(
      `Column ${quoted(column)}: ${operator} takes ${taken}.`,
      op && values.length > 0
        ? { kind: 'filter', column, operator, meant: { column, op, value } }
        : undefined,
    )
  if (isList) {
    const op = listForms.get(operator)
    return refuse(op === undefined ? 'one value' : `one value; for a list, use ${op}`, op)
  }
  // Whether a comma separates values, only columns without texts tell.
  const isText = rules.shown === 'string'
  const listed = values.flatMap((each): readonly RawValue[] =>
    typeof each === 'string' && !isText ? each.split(',', listValuesMax) : [each],
  )
  const isClear = !isText || !String(values[0]).includes(',')
  return refuse('a list of values', isClear ? operator : undefined, listed)
}

/** A value in URL form. */
function textOf(column: Column, value: RawValue): string {
  const { shown, example } = column.rules
  if (typeof value === 'string') {
    if (!/\p{Surrogate}/u.test(value)) return value
    throw badRequest(`Column ${quoted(column.name)}: the value is not valid Unicode.`)
  }
  const fits =
    typeof value === 'boolean' ? shown === 'boolean' : shown === 'integer' || shown === 'number'
  if (fits) return String(value)
  const start = `Column ${quoted(column.name)} is ${article(shown)}`
  if (shown !== 'string') {
    throw badRequest(`${start}, got ${value}.${example === '' ? '' : ` Example: ${example}`}`)
  }
  throw correctable(
    `${start}: send the value as a string.`,
    typeof value === 'number' ? { kind: 'as-text', column: column.name } : undefined,
  )
}
