import { plainColumn } from '../../columns/column.js'
import { columnsOf } from '../../columns/formula.js'
import type { ColumnAt, Quotient, Side, Term } from '../../columns/formula.js'
import type { Column } from '../../columns/column.js'
import type { DataType, ScalarName } from '../../columns/data-type.js'
import { aggregateFunctions } from '../../columns/functions.js'
import type { AggregateFunction } from '../../columns/functions.js'
import type { Aggregate, GroupBy, Measure, Summary } from '../summary.js'

/** The name of a group's label in the answer. */
function labelName(group: GroupBy): string {
  return `${group.name}:label`
}

/** The columns of the answer in order, with those of labels; the rest is told in the last one. */
export function resultColumns({
  groups,
  measures,
}: Pick<Summary, 'groups' | 'measures'>): readonly Column[] {
  return resultParts({ groups, measures }).map(({ column }) => column)
}

/** A column of the answer, and the place of the group or measure that fills it. */
export interface ResultPart {
  readonly column: Column
  readonly of: { readonly group: number; readonly isLabel: boolean } | { readonly measure: number }
}

/** The same with what fills each of them. */
export function resultParts({
  groups,
  measures,
}: Pick<Summary, 'groups' | 'measures'>): readonly ResultPart[] {
  const keys = groups.flatMap((each, group): readonly ResultPart[] => {
    const part = { column: resultColumn(each), of: { group, isLabel: false } }
    return each.labels
      ? [part, { column: labelColumn(each), of: { group, isLabel: true } }]
      : [part]
  })
  const values = measures.flatMap((each, measure): readonly ResultPart[] =>
    each.isHidden ? [] : [{ column: resultColumn(each), of: { measure } }],
  )
  const isRest = ({ of }: ResultPart) => 'group' in of && groups[of.group]?.by.kind === 'rest'
  return [...keys.filter((each) => !isRest(each)), ...values, ...keys.filter(isRest)]
}

/** The column of the answer that a group or a measure fills: its name, type, unit and meaning. */
export function resultColumn(part: GroupBy | Measure): Column {
  return 'by' in part ? groupColumn(part) : measureColumn(part)
}

/** The column of the names of a group's codes. */
function labelColumn(group: GroupBy): Column {
  const { label, russian } = groupLabels(group)
  return {
    ...plainColumn(labelName(group), scalar('VARCHAR')),
    label: noted(label, 'name'),
    russian: { ...russian, label: noted(russian.label, 'название') },
  }
}

/** The labels of a group's column, with that of its level. */
function groupLabels({ name, column, by }: GroupBy) {
  const { label, russian, levels } = column
  const level = levels.find((each) =>
    'length' in each
      ? by.kind === 'prefix' && by.length === each.length
      : by.kind === 'level' && name === `${column.name}:${each.name}`,
  )
  if (!level) return { label, russian }
  const inRussian = noted(russian.label ?? label, level.russian.label ?? level.label)
  return { label: noted(label, level.label), russian: { ...russian, label: inRussian } }
}

function groupColumn(group: GroupBy): Column {
  const { name, column, by } = group
  if (by.kind === 'value') return { ...column, name }
  if (by.kind === 'rest') return plainColumn(name, scalar('BOOLEAN'))
  const plain = plainColumn(name, scalar(by.kind === 'year' ? 'BIGINT' : 'VARCHAR'))
  return { ...plain, ...groupLabels(group), description: column.description }
}

function noted(label: string | null, note: string | null): string | null {
  return label === null || note === null ? label : `${label}, ${note}`
}

/** The names of functions in Russian headings; others are written as in a request. */
const russianFunctions: Readonly<Record<string, string>> = {
  count: 'заполнено',
  distinct: 'разных значений',
  sum: 'сумма',
  avg: 'среднее',
  min: 'минимум',
  max: 'максимум',
  ratio: 'отношение',
  growth: 'рост',
}

/** `Revenue, sum` for a function of a column, `Net profit / Revenue, ratio` for one of two. */
function measureLabels(aggregate: Aggregate): readonly (string | null)[] {
  if (aggregate.of === null) return ['Rows', 'Строки']
  const name = aggregate.kind === 'percentile' ? `p${aggregate.percent}` : aggregate.kind
  const noteds = [name, russianFunctions[name] ?? name]
  const labelsOf: readonly ((column: Column) => string | null)[] = [
    ({ label }) => label,
    ({ label, russian }) => russian.label ?? label,
  ]
  return labelsOf.map((labelOf, index) =>
    noted(operandLabel(aggregate.of, labelOf), noteds[index] ?? name),
  )
}

/** The labels of an operand as its formula; null where a column has none. */
function operandLabel(
  of: Aggregate['of'],
  labelOf: (column: Column) => string | null,
): string | null {
  if (of === null || columnsOf(of).some(({ column }) => labelOf(column) === null)) return null
  const term = ({ column, at }: ColumnAt) =>
    `${labelOf(column) ?? ''}${at === null ? '' : ` ${at}`}`
  if (!('dividend' in of)) return term(of)
  const [dividend, divisor] = [of.dividend, of.divisor].map(({ factor, terms }) => {
    const sign = ({ isSubtracted }: Term, place: number) =>
      place === 0 ? '' : isSubtracted ? ' − ' : ' + '
    const sum = terms.map((each, place) => `${sign(each, place)}${term(each)}`).join('')
    return factor === null ? sum : `${factor} × ${sum}`
  })
  return `${dividend} / ${divisor}`
}

function measureColumn({ name, aggregate, defined }: Measure): Column {
  const facts = resultFacts(aggregate)
  const plain = plainColumn(name, facts.type)
  const [label = null, russian = null] = defined
    ? [defined.label, defined.russian.label]
    : measureLabels(aggregate)
  const rules = facts.isInteger
    ? ({ ...plain.rules, shown: 'integer', example: '1000' } as const)
    : plain.rules
  return {
    ...plain,
    rules,
    label,
    russian: { ...plain.russian, label: russian },
    nullable: aggregate.kind !== 'count' && aggregate.kind !== 'distinct',
    unit: defined?.unit ?? facts.unit,
    description: defined?.description ?? null,
    asText: facts.asText,
    labels: facts.labels,
  }
}

/** The function of an aggregate, as the table of functions names it. */
function functionOf({ kind }: Aggregate): AggregateFunction {
  return kind === 'percentile' ? 'pN' : kind
}

interface ResultFacts {
  readonly type: DataType
  readonly unit: string | null
  readonly asText: boolean
  /** A whole number, although its type has a scale. */
  readonly isInteger: boolean
  readonly labels: Column['labels']
}

function resultFacts(aggregate: Aggregate): ResultFacts {
  const { result } = aggregateFunctions[functionOf(aggregate)]
  const column = plainOperand(aggregate)
  const base = { unit: unitOf(aggregate), asText: false, isInteger: false, labels: null }
  switch (result) {
    case 'count':
      return { ...base, unit: null, type: scalar('BIGINT') }
    case 'double':
      return { ...base, type: scalar('DOUBLE') }
    case 'column':
      if (!column) return { ...base, type: scalar('DOUBLE') }
      return { ...base, type: column.type, asText: column.asText, labels: column.labels }
    case 'exact': {
      const asText = column?.asText ?? false
      const isInteger = column?.rules.shown === 'integer'
      return { ...base, type: sumType(column), asText, isInteger }
    }
  }
}

/** A HUGEINT would be served as a JSON string; a DECIMAL has as many digits and is a number. */
function sumType(column: Column | null): DataType {
  if (column?.type.kind === 'decimal') return { ...column.type, width: 38 }
  if (column?.rules.shown === 'integer') return { kind: 'decimal', width: 38, scale: 0 }
  return scalar('DOUBLE')
}

function plainOperand({ of }: Aggregate): Column | null {
  return of && 'column' in of ? of.column : null
}

function unitOf({ kind, of }: Aggregate): string | null {
  if (!of || kind === 'growth') return null
  return 'column' in of ? of.column.unit : quotientUnit(of)
}

/** A quotient of equal units is a plain number. */
function quotientUnit({ dividend, divisor }: Quotient): string | null {
  const [unit, by] = [sideUnit(dividend), sideUnit(divisor)]
  if (unit === null || unit === by) return null
  const [only, ...others] = divisor.terms
  const name = others.length === 0 && divisor.factor === null ? only?.column.name : undefined
  const per = by ?? name
  return per === undefined ? null : `${unit} / ${per}`
}

/** Null for columns of different units, and for multiples of a unit. */
function sideUnit({ factor, terms }: Side): string | null {
  const [unit = null, ...others] = new Set(terms.map(({ column }) => column.unit))
  return factor === null && others.length === 0 ? unit : null
}

function scalar(name: ScalarName): DataType {
  return { kind: 'scalar', name }
}
