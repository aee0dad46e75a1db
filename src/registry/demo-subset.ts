import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { filterPredicates } from '../columns/predicate.js'
import type { Predicate } from '../columns/predicate.js'
import type { FindColumn } from './column-names.js'
import type { WrittenScalar } from './located-yaml.js'
import type { DatasetEntry } from './registry-schema.js'
import type { Problem } from './registry.js'

/**
 * The rows that the demo token sees: those with one of the listed values in every column of `demo`;
 * null if the dataset has no `demo`. Adds mistakes to `problems`.
 */
export function demoSubset(
  { demo }: DatasetEntry,
  find: FindColumn,
  scalarAt: (path: Problem['path']) => WrittenScalar,
  problems: Problem[],
): readonly Predicate[] | null {
  if (!demo) return null
  const predicates = Object.entries(demo).flatMap(([name, values]) => {
    const path = ['demo', name]
    const column = find(name, path)
    const scalars = values.map((_, index) => scalarAt([...path, index]))
    return column ? columnSubset(column, scalars, path, problems) : []
  })
  return Object.freeze(predicates)
}

function columnSubset(
  column: Column,
  scalars: readonly WrittenScalar[],
  path: Problem['path'],
  problems: Problem[],
): readonly Predicate[] {
  const { name, rules } = column
  const operator = scalars.length === 1 ? 'eq' : 'in'
  if (!columnOperators(column).includes(operator)) {
    const limit = operator === 'eq' ? 'a value' : 'several values'
    problems.push({
      path,
      message: `column "${name}" (${rules.shown}) can't be limited to ${limit}`,
    })
    return []
  }
  const mistakes = scalars.flatMap((scalar, index) => {
    const message = scalarMistake(column, scalar)
    return message === undefined ? [] : [{ path: [...path, index], message }]
  })
  problems.push(...mistakes)
  if (mistakes.length > 0) return []
  return filterPredicates(
    column,
    operator,
    scalars.map(({ text }) => text),
  )
}

function scalarMistake(column: Column, { text, isText }: WrittenScalar): string | undefined {
  if (column.rules.shown === 'string' && !isText) {
    return `column "${column.name}" is a string: write '${text}' in quotes`
  }
  try {
    filterPredicates(column, 'eq', [text])
    return undefined
  } catch (cause) {
    return (cause as Error).message
  }
}
