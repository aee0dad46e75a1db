import type { Access } from '../access/access.js'
import type { Column } from '../catalog/column.js'
import { nearestTexts, quoted } from '../catalog/nearest.js'
import type { Predicate } from '../catalog/predicate.js'
import { withDeadline } from '../engine/deadline.js'
import type { Engine, ReadOptions } from '../engine/engine.js'
import { ServiceError } from '../errors.js'
import type { Filter } from '../query/read-filters.js'

/** All the work that an empty answer may cost besides itself. */
const explainTimeoutMs = 2000
const filtersMax = 8
/** A column of more values, or of fewer rows a value, holds no codes but what rows are sold for. */
const codesMax = 1000
const rowsPerCodeMin = 2
const nearestMax = 5

/** A question that no row meets, and the means to ask why. */
interface Puzzle {
  readonly engine: Engine
  readonly access: Access
  readonly filters: readonly Filter[]
  readonly options: ReadOptions
}

/**
 * Why no row meets the filters, in a sentence or two: which single filter left nothing, and the
 * values nearest to it. Nothing here is charged, so no row's cells are shown: near values are those
 * of the history column among the rows that the other filters leave, and of codes in the whole
 * window. Whoever narrows a cell down by many empty answers pays with requests. Null where there is
 * nothing to tell, or no time to find it out.
 */
export async function explainEmpty(
  engine: Engine,
  access: Access,
  filters: readonly Filter[],
  options: ReadOptions,
): Promise<string | null> {
  if (filters.length > filtersMax) return null
  try {
    return await withDeadline(explainTimeoutMs, options.signal, (signal) =>
      explain({ engine, access, filters, options: { ...options, signal } }),
    )
  } catch (cause) {
    const isBusyOrLate =
      cause instanceof ServiceError && ['timeout', 'service_unavailable'].includes(cause.code)
    if (isBusyOrLate && !options.signal.aborted) return null
    throw cause
  }
}

async function explain(puzzle: Puzzle): Promise<string> {
  if (!(await hasRows(puzzle, []))) return 'There is no row that this token can see.'
  const guilty: Filter[] = []
  for (const filter of puzzle.filters) {
    const others = without(puzzle, filter)
    if (others.length === 0 || (await hasRows(puzzle, others))) guilty.push(filter)
  }
  if (guilty.length === 0) {
    return 'No single filter is the cause: without any one of them there is still no row. Take away two or more.'
  }
  const names = guilty.map(shownFilter).join(', ')
  const sentences = [
    guilty.length === 1
      ? `The filter ${names} leaves no row; without it there are rows.`
      : `Together the filters leave no row; without any one of these there are rows: ${names}.`,
  ]
  for (const filter of guilty) {
    const near = await nearValues(puzzle, filter)
    if (near.length > 0) {
      sentences.push(`Values of ${filter.column.name} near it: ${near.join(', ')}.`)
    }
  }
  return sentences.join(' ')
}

function without({ filters }: Puzzle, filter: Filter): readonly Predicate[] {
  return filters.flatMap((each) => (each === filter ? [] : each.predicates))
}

async function hasRows(
  { engine, access, options }: Puzzle,
  filters: readonly Predicate[],
): Promise<boolean> {
  const { version, columns } = access
  const predicates = [...access.predicates, ...filters]
  const question = { version, predicates, columns: columns.slice(0, 1), after: null, limit: 1 }
  return (await engine.read(question, options)).rows.length > 0
}

/** JSON texts; none where values say nothing, or may not be told. */
async function nearValues(puzzle: Puzzle, filter: Filter): Promise<readonly string[]> {
  const { engine, access, options } = puzzle
  const { column, texts } = filter
  const [wanted] = texts
  if (wanted === undefined) return []
  const { version } = access
  const isHistory = column === version.history
  const predicates = [...access.predicates, ...(isHistory ? without(puzzle, filter) : [])]
  const columns = [column]
  const question = { version, predicates, columns, valuesMax: codesMax, rowsMax: null }
  const profile = await engine.profile(question, options)
  const { values, emptyRows = 0 } = profile.columns[0] ?? {}
  if (!values) return []
  const areCodes = isHistory || profile.rows - emptyRows >= values.length * rowsPerCodeMin
  return areCodes ? nearest(column, wanted, values) : []
}

/** Numbers and dates by size, text by its beginning; none where the value itself is there. */
function nearest(
  { rules }: Column,
  wanted: string,
  ascending: readonly string[],
): readonly string[] {
  if (rules.shown === 'string') {
    const texts = ascending.map((json) => JSON.parse(json) as string)
    if (texts.includes(wanted)) return []
    return nearestTexts(wanted.replace(/\*$/, ''), texts, nearestMax).map(quoted)
  }
  if (rules.shown === 'boolean') return ascending.includes(wanted) ? [] : ascending
  const size = (json: string) => {
    const text = json.replaceAll('"', '')
    return rules.shown === 'date' ? Date.parse(text) : Number(text)
  }
  const distance = (json: string) => Math.abs(size(json) - size(wanted))
  const near = [...ascending].sort((left, right) => distance(left) - distance(right))
  if (near[0] !== undefined && distance(near[0]) === 0) return []
  return near.slice(0, nearestMax).sort((left, right) => size(left) - size(right))
}

/** `year eq "2018"`, `inn in 3 values`. */
function shownFilter({ column, operator, texts }: Filter): string {
  const [text] = texts
  const value = texts.length > 1 ? `${texts.length} values` : text === undefined ? '' : quoted(text)
  return `${column.name} ${operator} ${value}`.trimEnd()
}
