import type { ShownType } from './column-types.js'

/** The types whose values have an order, so that a first and a last one exist. */
export const orderedTypes: readonly ShownType[] = [
  ...(['integer', 'number', 'string', 'date', 'timestamp', 'time'] as const),
]
