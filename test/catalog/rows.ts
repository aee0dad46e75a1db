import { plainColumn } from '../../src/catalog/column.js'
import type { Column } from '../../src/catalog/column.js'
import type { ScalarName } from '../../src/catalog/data-type.js'
import type { Operator } from '../../src/catalog/operators.js'
import type { Value } from '../../src/catalog/place.js'
import { filterPredicates } from '../../src/catalog/predicate.js'
import type { Predicate } from '../../src/catalog/predicate.js'
import type { Exact } from '../../src/catalog/values.js'

/** What a predicate means, said as simply as can be: the model that tests compare with. */
export function holds(
  predicate: Predicate,
  row: Readonly<Record<string, Value | null | undefined>>,
): boolean {
  if (predicate.kind === 'nothing') return false
  const value = row[predicate.column.name] ?? null
  switch (predicate.kind) {
    case 'is_null':
      return value === null
    case 'not_null':
      return value !== null
    case 'isdistinct':
      return value === null || order(value, predicate.value) !== 0
    case 'in':
      return value !== null && predicate.values.some((each) => order(value, each) === 0)
    case 'not_in':
      return value !== null && predicate.values.every((each) => order(value, each) !== 0)
    case 'eq':
      return value !== null && order(value, predicate.value) === 0
    case 'ne':
      return value !== null && order(value, predicate.value) !== 0
    case 'gt':
      return value !== null && order(value, predicate.value) > 0
    case 'gte':
      return value !== null && order(value, predicate.value) >= 0
    case 'lt':
      return value !== null && order(value, predicate.value) < 0
    case 'lte':
      return value !== null && order(value, predicate.value) <= 0
  }
}

/** Texts go by their UTF-8 bytes, everything else by its size. */
export function order(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') {
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  }
  return left < right ? -1 : left > right ? 1 : 0
}

/** Digits with a point, whole numbers without. */
export function decimalText({ units, scale }: Exact): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = scale === 0 ? '' : `.${digits.slice(-scale)}`
  return `${units < 0n ? '-' : ''}${whole}${fraction}`
}

/** A column `x` of a scalar type. */
export function scalar(name: ScalarName): Column {
  return plainColumn('x', { kind: 'scalar', name })
}

/** Whether a row with this value of the column passes a filter. */
export function passes(
  column: Column,
  operator: Operator,
  texts: readonly string[],
  value: Value | null,
): boolean {
  return filterPredicates(column, operator, texts).every((each) => holds(each, { x: value }))
}
