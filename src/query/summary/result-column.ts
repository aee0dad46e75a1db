import { plainColumn } from '../../columns/column.js'
import type { Column } from '../../columns/column.js'
import type { DataType, ScalarName } from '../../columns/data-type.js'
import { aggregateFunctions } from '../../columns/functions.js'
import type { AggregateFunction } from '../../columns/functions.js'
import type { Aggregate, GroupBy, Measure, Quotient } from '../summary.js'

/** The name of a group's label in the answer. */
export function labelName(group: GroupBy): string {
  return `${group.name}:label`
}

/** The column of the answer that a group or a measure fills: its name, type, unit and meaning. */
export function resultColumn(part: GroupBy | Measure): Column {
  return 'by' in part ? groupColumn(part) : measureColumn(part)
}

/** The column of the names of a group's codes. */
export function labelColumn(group: GroupBy): Column {
  const { label, russian } = group.column
  return {
    ...plainColumn(labelName(group), scalar('VARCHAR')),
    label: noted(label, 'name'),
    russian: { ...russian, label: noted(russian.label, 'название') },
  }
}

function groupColumn({ name, column, by }: GroupBy): Column {
  if (by.kind === 'value') return { ...column, name }
  const { label, russian, description } = column
  const plain = plainColumn(name, scalar(by.kind === 'year' ? 'BIGINT' : 'VARCHAR'))
  return { ...plain, label, russian, description }
}

function noted(label: string | null, note: string): string | null {
  return label === null ? null : `${label}, ${note}`
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
}

/** `Revenue, sum` for a function of a column, `Net profit / Revenue, ratio` for one of two. */
function measureLabels(aggregate: Aggregate): readonly (string | null)[] {
  const operand = 'of' in aggregate ? aggregate.of : aggregate.column
  const columns = operand && 'type' in operand ? [operand] : Object.values(operand ?? {})
  const name = aggregate.kind === 'percentile' ? `p${aggregate.percent}` : aggregate.kind
  const join = (labels: readonly (string | null)[], note: string) =>
    labels.length === 0 || labels.includes(null) ? null : `${labels.join(' / ')}, ${note}`
  return [
    join(
      columns.map(({ label }) => label),
      name,
    ),
    join(
      columns.map(({ label, russian }) => russian.label ?? label),
      russianFunctions[name] ?? name,
    ),
  ]
}

function measureColumn({ name, aggregate, defined }: Measure): Column {
  const facts = resultFacts(aggregate)
  const plain = plainColumn(name, facts.type)
  const [label = null, russian = null] = defined ? [] : measureLabels(aggregate)
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
}

function resultFacts(aggregate: Aggregate): ResultFacts {
  const { result } = aggregateFunctions[functionOf(aggregate)]
  const column = plainOperand(aggregate)
  const base = { unit: unitOf(aggregate), asText: false, isInteger: false }
  switch (result) {
    case 'count':
      return { ...base, unit: null, type: scalar('BIGINT') }
    case 'double':
      return { ...base, type: scalar('DOUBLE') }
    case 'column':
      return { ...base, type: column?.type ?? scalar('DOUBLE'), asText: column?.asText ?? false }
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

function plainOperand(aggregate: Aggregate): Column | null {
  const operand = 'of' in aggregate ? aggregate.of : aggregate.column
  return operand && 'type' in operand ? operand : null
}

function unitOf(aggregate: Aggregate): string | null {
  const operand = 'of' in aggregate ? aggregate.of : aggregate.column
  if (!operand) return null
  return 'type' in operand ? operand.unit : quotientUnit(operand)
}

/** A quotient of equal units is a plain number. */
function quotientUnit({ dividend, divisor }: Quotient): string | null {
  if (dividend.unit === null || dividend.unit === divisor.unit) return null
  return `${dividend.unit} / ${divisor.unit ?? divisor.name}`
}

function scalar(name: ScalarName): DataType {
  return { kind: 'scalar', name }
}
