import { parseArgument } from '../columns/call-text.js'
import { aggregateNames, findAggregate, meantFunction } from '../columns/functions.js'
import { didYouMean } from '../text.js'
import { isRecord, problemAt, recordOf } from './shape.js'
import type { ShapeProblem } from './shape.js'

const measureName = /^[a-z][a-z0-9_]{0,63}$/
const describingKeys: readonly string[] = ['label', 'unit', 'description']
const keys = [...aggregateNames.map((name) => (name === 'pN' ? 'p90' : name)), ...describingKeys]

/** What the schema can't say of measures. `measures` may have any shape. */
export function measureProblems(
  measures: unknown,
  path: readonly string[],
): readonly ShapeProblem[] {
  return Object.entries(recordOf(measures)).flatMap(([name, measure]) => {
    const place = [...path, name]
    if (!measureName.test(name)) {
      const message = 'a measure name must be 1 to 64 of a-z, 0-9 and "_", a letter first.'
      return [problemAt(place, message)]
    }
    if (findAggregate(name)) {
      return [problemAt(place, 'the name is that of a function; choose another.')]
    }
    if (!isRecord(measure)) return []
    return functionProblems(functionEntries(measure), place)
  })
}

function functionProblems(
  entries: readonly (readonly [string, unknown])[],
  path: readonly string[],
): readonly ShapeProblem[] {
  const unknown = entries.filter(([key]) => !findAggregate(key))
  if (unknown.length > 0) return unknown.map(([key]) => unknownKey(key, [...path, key]))
  const [first, second] = entries
  if (!first) return [problemAt(path, 'names no function. Example: {ratio: 2400/2110}')]
  if (second) {
    return [problemAt([...path, second[0]], `${first[0]} is there already: name one function.`)]
  }
  const [key, operand] = first
  if (typeof operand === 'string' && parseArgument(operand)) return []
  const hint = typeof operand === 'number' ? ` Write '${operand}' in quotes.` : ''
  const message = `must be a column name, or two with a slash as in 2400/2110.${hint}`
  return [problemAt([...path, key], message)]
}

function unknownKey(key: string, path: readonly string[]): ShapeProblem {
  const meant = meantFunction(key, keys)
  return problemAt(
    path,
    `unknown function.${meant === undefined ? '' : didYouMean(meant, [meant])}`,
  )
}

/** The functions of a measure with their columns, as they are written. */
export function functionEntries(measure: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(recordOf(measure)).filter(([key]) => !describingKeys.includes(key))
}
