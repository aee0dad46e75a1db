import type { Column } from '../../columns/column.js'
import { parseFilterValue } from '../../columns/filter-value.js'
import type { KeyPosition } from '../../query/question.js'
import type { Dialect, Parameters } from './dialect.js'
import { servedText, textOf } from './encode.js'

/** The key, which a statement has as `k0`, `k1`, …, as filters write it; a text for each column. */
export function keyTexts(dialect: Dialect, key: readonly Column[]): string {
  return key.map(({ type }, index) => textOf(servedText(dialect, type, `k${index}`))).join(', ')
}

/** The order of the key; empty values come last. */
export function keyOrder(key: readonly Column[]): string {
  return key.map((_, index) => `k${index} ASC NULLS LAST`).join(', ')
}

/** True for the rows after a position in the order of the key. */
export function afterKey(
  key: readonly Column[],
  { key: texts }: KeyPosition,
  sqlOf: (column: Column) => string,
  parameters: Parameters,
): string {
  const places = key.map((column, index) => ({ column, text: texts[index] ?? null }))
  const later = (column: Column, text: string, sign: '>' | '>=') => {
    const name = sqlOf(column)
    return `(${name} ${sign} ${keyValue(column, text, parameters)} OR ${name} IS NULL)`
  }
  const same = (column: Column, text: string | null) => {
    const name = sqlOf(column)
    return text === null ? `${name} IS NULL` : `${name} = ${keyValue(column, text, parameters)}`
  }
  const [first] = places
  // On one column alone, so that files are chosen by it.
  const bound = first?.text == null ? '' : `${later(first.column, first.text, '>=')} AND `
  const choices = places.flatMap(({ column, text }, index) => {
    if (text === null) return []
    const before = places.slice(0, index).map((place) => same(place.column, place.text))
    return [`(${[...before, later(column, text, '>')].join(' AND ')})`]
  })
  return choices.length === 0 ? 'false' : `${bound}(${choices.join(' OR ')})`
}

/** A value that a position holds, bound. */
function keyValue(column: Column, text: string, parameters: Parameters): string {
  const parsed = parseFilterValue(column, text)
  if (parsed.kind !== 'exact') throw new TypeError('a position has a value that its column lacks')
  return parameters.value(column, parsed.value)
}
