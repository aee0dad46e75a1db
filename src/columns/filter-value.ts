import { correctable } from './correction.js'
import { article, quoted } from '../text.js'
import type { GridDomain } from './column-types.js'
import { columnOperators } from './column.js'
import type { Column } from './column.js'
import { onGrid, parseFloating, parseUuid } from './values.js'

/**
 * A value to bind: steps of the column's grid (numbers, dates, times, UUIDs) as bigint, FLOAT and
 * DOUBLE as number, text as string.
 */
export type Value = bigint | number | string | boolean

/** A filter's value, relative to the values that the column can hold. */
export type FilterValue =
  | { readonly kind: 'exact'; readonly value: Value }
  /** Above the step `floor` and below the next one. */
  | { readonly kind: 'between'; readonly floor: bigint }
  | { readonly kind: 'below' | 'above' }
  /** Not comparable with any value of the column: text that is not a UUID. */
  | { readonly kind: 'incomparable' }

/**
 * Parses a filter's text as a value of the column, without rounding.
 * @throws bad_request with the column, its type and an example
 */
export function parseFilterValue(column: Column, text: string): FilterValue {
  const domain = column.rules.domain
  switch (domain.kind) {
    case 'grid':
      return gridValue(column, domain, text)
    case 'float':
      return floatValue(column, domain.single, text)
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw malformed(column, text)
      return { kind: 'exact', value: text === 'true' }
    case 'text':
      return domain.form === 'uuid' ? uuidValue(text) : { kind: 'exact', value: text }
    case 'opaque':
      throw malformed(column, text)
  }
}

function gridValue(column: Column, domain: GridDomain, text: string): FilterValue {
  const value = domain.parse(text)
  if (!value) throw malformed(column, text)
  const { floor, exact } = onGrid(value, domain.scale)
  if (floor < domain.min) return { kind: 'below' }
  if (floor > domain.max) return { kind: 'above' }
  return exact ? { kind: 'exact', value: floor } : { kind: 'between', floor }
}

function floatValue(column: Column, single: boolean, text: string): FilterValue {
  const parsed = parseFloating(text)
  if (parsed === undefined) throw malformed(column, text)
  const value = single ? Math.fround(parsed) : parsed
  if (value === Infinity) return { kind: 'above' }
  if (value === -Infinity) return { kind: 'below' }
  return { kind: 'exact', value }
}

function uuidValue(text: string): FilterValue {
  const value = parseUuid(text)
  return value === undefined ? { kind: 'incomparable' } : { kind: 'exact', value }
}

function malformed(column: Column, text: string): Error {
  const { shown, example } = column.rules
  return correctable(
    `Column ${quoted(column.name)} takes ${article(shown)}, got ${quoted(text)}. ` +
      `Example: ${column.name}=${columnOperators(column)[0]}.${example}`,
    { kind: 'example', column: column.name, written: text, meant: example },
  )
}
