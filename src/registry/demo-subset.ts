import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { filterPredicates } from '../columns/predicate.js'
import type { Predicate } from '../columns/predicate.js'
import type { FindColumn } from './find-column.js'
import type { WrittenScalar } from './located-yaml.js'
import type { Problem } from './problem.js'
import type { DatasetEntry } from './registry-schema.js'

/**
 * What the demo token sees: the rows that have one of the values in every column of the registry's
 * `demo`; null where there is none. Mistakes are noted in `problems`.
 */
export function demoSubset(
  { demo }: DatasetEntry,
  find: FindColumn,
  written: (path: Problem['path']) => WrittenScalar,
  problems: Problem[],
): readonly Predicate[] | null {
  if (!demo) return null
  const predicates = Object.entries(demo).flatMap(([name, values]) => {
    const path = ['demo', name]
    const column = find(name, path)
    const scalars = values.map((_, index) => written([...path, index]))
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
    const what = operator === 'eq' ? 'a value' : 'several values'
    problems.push({ path, message: `column "${name}" (${rules.shown}) can't be chosen by ${what}` })
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
    return `column "${column.name}" is a string: quote it, '${text}'`
  }
  try {
    filterPredicates(column, 'eq', [text])
    return undefined
  } catch (cause) {
    return (cause as Error).message
  }
}
