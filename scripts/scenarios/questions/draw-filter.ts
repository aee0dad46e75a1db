import { columnOperators } from '../../../src/columns/column.js'
import type { GridDomain } from '../../../src/columns/column-types.js'
import { operators } from '../../../src/columns/operators.js'
import type { Operator } from '../../../src/columns/operators.js'
import type { Value } from '../../../src/columns/filter-value.js'
import { hasWords, searchWords } from '../../../src/columns/search-words.js'
import type { Exact } from '../../../src/columns/values.js'
import { decimalText } from '../../../test/columns/fixtures/predicate-model.js'
import type { TestFilter } from '../../../test/support/carriers.js'
import type { Random } from '../../harness/random.js'
import { clockText, dateText, timestampText } from './cell-text.js'
import { cellValue } from './table.js'
import type { ModelColumn, Table } from './table.js'

/** A filter as a request has it, and which rows of the table it keeps. */
export interface DrawnFilter {
  readonly asked: TestFilter
  readonly keeps: (row: number) => boolean
}

/** A value in a filter, and how a cell that is not empty compares with it: below, equal, above. */
interface Operand {
  readonly text: string
  readonly compare: (cell: Value) => number
}

const listMax = 12
const filterCounts = [0, 1, 1, 1, 1, 2, 2, 2, 3] as const
/** More digits than any column holds. */
const farDigits = 40
/** What a timestamp's or a number's text has beyond the column's own places. */
const finerPlaces = 1
const timestampPlacesMax = 9
/** Numbers that JSON readers keep are also sent without quotes. */
const plainNumber = /^-?(?:0|[1-9]\d{0,13})$/

/** Draws filters on any columns, several of them on the same one. */
export function drawFilters(random: Random, table: Table): readonly DrawnFilter[] {
  const count = random.oneOf(filterCounts)
  return Array.from({ length: count }, () => drawFilter(random, table, random.oneOf(table.columns)))
}

/** Draws a filter on one column, with any of its operators. */
export function drawFilter(random: Random, table: Table, column: ModelColumn): DrawnFilter {
  const op = random.oneOf(columnOperators(column.column))
  const keeps = (test: (cell: Value) => boolean) => (row: number) => {
    const value = cellValue(column, row)
    return value !== null && test(value)
  }
  const { name } = column
  if (op === 'is_null') {
    return { asked: [name, op], keeps: (row) => cellValue(column, row) === null }
  }
  if (op === 'not_null') return { asked: [name, op], keeps: keeps(() => true) }
  if (op === 'contains' || op === 'like') return drawText(random, table, column, op)
  if (operators[op].form === 'list') {
    const list = Array.from({ length: random.whole(1, listMax) }, () =>
      drawOperand(random, table, column),
    )
    const isIn = op === 'in'
    const asked = [name, op, list.map(({ text }) => text)] as const
    return {
      asked,
      keeps: keeps((cell) => list.some(({ compare }) => compare(cell) === 0) === isIn),
    }
  }
  const { text, compare } = drawOperand(random, table, column)
  // `eq.null` is refused, because most callers mean `is_null`.
  if (/^null$/i.test(text)) {
    return { asked: [name, 'is_null'], keeps: (row) => !keeps(() => true)(row) }
  }
  const asked: TestFilter = [name, op, jsonValue(random, column, text)]
  if (op === 'isdistinct') {
    return { asked, keeps: (row) => !keeps((cell) => compare(cell) === 0)(row) }
  }
  return { asked, keeps: keeps((cell) => holds(op, compare(cell))) }
}

function holds(op: Operator, order: number): boolean {
  switch (op) {
    case 'eq':
      return order === 0
    case 'ne':
      return order !== 0
    case 'gt':
      return order > 0
    case 'gte':
      return order >= 0
    case 'lt':
      return order < 0
    default:
      return order <= 0
  }
}

/** A number or a truth, now and then without quotes. */
function jsonValue(random: Random, { column }: ModelColumn, text: string) {
  const { shown } = column.rules
  if (random.whole(0, 1) === 0) return text
  if (shown === 'boolean') return text === 'true'
  const isNumber = shown === 'integer' || shown === 'number'
  return isNumber && plainNumber.test(text) ? Number(text) : text
}

/** A value of the column's own, one beside it, or one that it can't hold. */
function drawOperand(random: Random, table: Table, column: ModelColumn): Operand {
  const { domain } = column.column.rules
  const cell = cellValue(column, random.whole(0, table.rows - 1))
  switch (domain.kind) {
    case 'grid':
      return gridOperand(random, column, domain, BigInt(cell ?? 0))
    case 'float':
      return floatOperand(random, domain.single, Number(cell ?? 0))
    case 'text': {
      const isUuid = domain.form === 'uuid'
      const own = String(cell ?? '')
      const shorter = [...own].slice(0, -1).join('')
      return textOperand(random.oneOf([own, own, own, `${own}x`, shorter, ' ']), isUuid)
    }
    default: {
      const isTrue = random.oneOf([true, false])
      return { text: String(isTrue), compare: (other) => (other === isTrue ? 0 : 1) }
    }
  }
}

function textOperand(text: string, isUuid: boolean): Operand {
  const plain = isUuid ? text.toLowerCase() : text
  // No operator asks which of two texts comes first.
  return { text, compare: (cell) => (cell === plain ? 0 : 1) }
}

function floatOperand(random: Random, isSingle: boolean, own: number): Operand {
  const near = [own, own, own, own * 1.000001, own + 1, -own].filter(Number.isFinite)
  const text = random.oneOf([...near.map(String), '1e999', '-1e999', '0.1'])
  const value = isSingle ? Math.fround(Number(text)) : Number(text)
  return { text, compare: (cell) => orderOf(Number(cell), value) }
}

function gridOperand(
  random: Random,
  { column }: ModelColumn,
  { scale }: GridDomain,
  own: bigint,
): Operand {
  const { shown } = column.rules
  const step = BigInt(random.oneOf([0, 0, 0, 0, 1, -1]))
  const exact = { units: own + step, scale }
  switch (shown) {
    case 'date':
      return gridValue(dateText(exact.units), exact, scale)
    case 'time': {
      const isInDay = exact.units >= 0n && exact.units <= 86_400n * 10n ** BigInt(scale)
      const units = isInDay ? exact.units : own
      return gridValue(clockText(units, scale), { units, scale }, scale)
    }
    case 'timestamp':
      return timestampOperand(random, column.type.kind === 'scalar' ? column.type.name : '', exact)
    default:
      return numberOperand(random, exact)
  }
}

function timestampOperand(random: Random, type: string, exact: Exact): Operand {
  const value = scaleUp(random, exact, timestampPlacesMax)
  const text = timestampText(value.units, value.scale)
  if (type !== 'TIMESTAMPTZ') return gridValue(text, value, exact.scale)
  const hours = random.oneOf([null, 0, 3, -11])
  if (hours === null) return gridValue(text, value, exact.scale)
  const local = value.units + BigInt(hours) * 3600n * 10n ** BigInt(value.scale)
  const zone =
    hours === 0 ? 'Z' : `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`
  return gridValue(timestampText(local, value.scale) + zone, value, exact.scale)
}

function numberOperand(random: Random, exact: Exact): Operand {
  const form = random.whole(0, 11)
  if (form === 0) {
    const far = {
      units: 10n ** BigInt(farDigits) * (random.whole(0, 1) === 0 ? 1n : -1n),
      scale: 0,
    }
    return gridValue(decimalText(far), far, exact.scale)
  }
  if (form === 1) return gridValue(`${exact.units}e-${exact.scale}`, exact, exact.scale)
  const value = scaleUp(random, exact, Infinity)
  return gridValue(decimalText(value), value, exact.scale)
}

/** Now and then with one more place, which lies between two steps unless it is 0. */
function scaleUp(random: Random, { units, scale }: Exact, placesMax: number): Exact {
  if (scale + finerPlaces > placesMax || random.whole(0, 5) > 0) return { units, scale }
  return { units: units * 10n + BigInt(random.oneOf([0, 5])), scale: scale + finerPlaces }
}

function gridValue(text: string, value: Exact, scale: number): Operand {
  const more = value.scale - scale
  const cellFactor = more > 0 ? 10n ** BigInt(more) : 1n
  const units = more < 0 ? value.units * 10n ** BigInt(-more) : value.units
  return {
    text,
    compare: (cell) => orderOf(BigInt(cell) * cellFactor, units),
  }
}

function orderOf<T extends bigint | number>(left: T, right: T): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** A search for words, or a beginning; where the drawn text can't be one, no filter of its kind. */
function drawText(
  random: Random,
  table: Table,
  column: ModelColumn,
  op: 'contains' | 'like',
): DrawnFilter {
  const { name } = column
  const own = String(cellValue(column, random.whole(0, table.rows - 1)) ?? 'x')
  const letters = [...own]
  const from = op === 'like' ? 0 : random.whole(0, Math.max(0, letters.length - 1))
  const part = letters.slice(from, from + random.whole(1, 4)).join('')
  const textAt = (row: number) => {
    const value = cellValue(column, row)
    return typeof value === 'string' ? value : null
  }
  const present = {
    asked: [name, 'not_null'] as const,
    keeps: (row: number) => textAt(row) !== null,
  }
  if (op === 'like') {
    // A star elsewhere than at the end is refused.
    if (part.includes('*')) return present
    const { domain } = column.column.rules
    const isUuid = domain.kind === 'text' && domain.form === 'uuid'
    const prefix = isUuid ? part.toLowerCase() : part
    return {
      asked: [name, op, `${part}*`],
      keeps: (row) => textAt(row)?.startsWith(prefix) ?? false,
    }
  }
  const text = random.oneOf([part, part.toUpperCase(), part.toLowerCase()])
  if (text.trim() === '') return present
  const words = searchWords(text, name)
  return {
    asked: [name, op, text],
    keeps: (row) => {
      const cell = textAt(row)
      return cell !== null && hasWords(cell, words)
    },
  }
}
