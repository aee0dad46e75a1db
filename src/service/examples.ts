import type { Access } from '../access/access.js'
import { typeOperators } from '../columns/column-types.js'
import type { ShownType } from '../columns/column-types.js'
import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { operatorNames, operators } from '../columns/operators.js'
import type { Operator } from '../columns/operators.js'
import { filterPredicates } from '../columns/predicate.js'
import type { Engine, ReadOptions } from '../engine/engine.js'
import { fastColumns } from './descriptions.js'

/** A row by column, for people and agents to read. */
export type SampleRow = Readonly<Record<string, unknown>>

type FilterValue = string | number | boolean

/** A filter in JSON form. */
interface ExampleFilter {
  readonly column: string
  readonly op: Operator
  readonly value?: FilterValue | readonly FilterValue[]
}

export interface OperatorExample {
  readonly op: Operator
  readonly meaning: string
  /** The types of columns that have this operator. */
  readonly types: readonly ShownType[]
  readonly example: ExampleFilter
}

/** A question that has been asked and answered. */
export interface ExampleCall {
  readonly purpose: string
  readonly filters: readonly ExampleFilter[]
  readonly select: readonly string[]
  readonly limit: number
  /** The number of rows in the answer. */
  readonly row_count: number
}

const exampleLimit = 10
/** Longer values are not used: a description repeats each value many times. */
const valueLettersMax = 100

/** One filter for each operator that a column has, with values of the dataset. */
export function operatorExamples(
  access: Access,
  sample: readonly SampleRow[],
): readonly OperatorExample[] {
  const columns = [...new Set([...fastColumns(access), ...access.columns])]
  const prose = columns.filter(({ name }) => valuesOf(name, sample).some(isProse))
  return operatorNames.flatMap((op) => {
    const candidates = op === 'contains' ? [...prose, ...columns] : columns
    const example = firstOf(candidates, (column) =>
      columnOperators(column).includes(op) ? exampleFilter(column, op, sample) : undefined,
    )
    return example ? [{ op, meaning: operators[op].meaning, types: typesWith(op), example }] : []
  })
}

function isProse(value: FilterValue): boolean {
  return typeof value === 'string' && /\s/.test(value)
}

function typesWith(op: Operator): readonly ShownType[] {
  const types = Object.keys(typeOperators) as readonly ShownType[]
  return types.filter((type) => typeOperators[type].includes(op))
}

function firstOf<T, R>(list: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of list) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** Undefined if the sample has no value for the operator. */
function exampleFilter(
  { name }: Column,
  op: Operator,
  sample: readonly SampleRow[],
): ExampleFilter | undefined {
  const values = valuesOf(name, sample)
  const [value] = values
  const { form } = operators[op]
  if (form === 'none') return { column: name, op }
  if (value === undefined) return undefined
  if (form === 'list') return { column: name, op, value: values }
  if (form === 'words') {
    const word = typeof value === 'string' ? longestWord(value) : ''
    return word === '' ? undefined : { column: name, op, value: word }
  }
  if (form === 'pattern') {
    return typeof value === 'string'
      ? { column: name, op, value: `${prefixOf(value)}*` }
      : undefined
  }
  return { column: name, op, value }
}

function longestWord(text: string): string {
  return text.split(/[\s"«»]+/).reduce((long, word) => (word.length > long.length ? word : long))
}

function prefixOf(text: string): string {
  return [...text].slice(0, 2).join('')
}

/** The distinct values that a filter can use unchanged and that are short enough to show. */
function valuesOf(name: string, sample: readonly SampleRow[]): readonly FilterValue[] {
  const isValue = (value: unknown): value is FilterValue =>
    typeof value === 'string'
      ? value.length <= valueLettersMax
      : ['number', 'boolean'].includes(typeof value)
  return [...new Set(sample.map((row) => row[name]).filter(isValue))]
}

/**
 * Two calls with the dataset's own values: a look-up, and a list with a bound. Each call is tested
 * before it is shown. Empty if the caller sees no rows.
 */
export async function exampleCalls(
  engine: Engine,
  access: Access,
  sample: readonly SampleRow[],
  options: ReadOptions,
): Promise<readonly Omit<ExampleCall, 'select'>[]> {
  const { version } = access
  const columns = [...new Set([...fastColumns(access), ...access.columns])].filter(
    (column) => columnOperators(column).includes('in') && valuesOf(column.name, sample).length > 0,
  )
  const [main, other] = columns
  if (!main) return []
  const lists = [main, other].flatMap((column, index) => {
    const filter = column && exampleFilter(column, index === 0 ? 'in' : boundOf(column), sample)
    return filter ? [filter] : []
  })
  const [value] = valuesOf(main.name, sample)
  const questions = [
    { purpose: `the rows of one ${main.name}`, filters: [{ column: main.name, op: 'eq', value }] },
    {
      purpose: `several values of ${main.name}${other ? `, with a bound on ${other.name}` : ''}`,
      filters: lists,
    },
  ] as readonly { purpose: string; filters: readonly ExampleFilter[] }[]
  const calls: Omit<ExampleCall, 'select'>[] = []
  for (const { purpose, filters } of questions) {
    const predicates = [
      ...access.predicates,
      ...filters.flatMap((each) => predicatesOf(access, each)),
    ]
    const question = { version, predicates, columns: [main], after: null, limit: exampleLimit }
    const { rows } = await engine.read(question, options)
    calls.push({ purpose, filters, limit: exampleLimit, row_count: rows.length })
  }
  return calls
}

function boundOf(column: Column): Operator {
  return columnOperators(column).includes('gte') ? 'gte' : 'not_null'
}

function predicatesOf(access: Access, { column, op, value }: ExampleFilter) {
  const found = access.columns.find(({ name }) => name === column)
  const texts = value === undefined ? [] : [value].flat().map(String)
  return found ? filterPredicates(found, op, texts) : []
}
