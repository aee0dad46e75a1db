import type { Access } from '../access/access.js'
import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import { withDeadline } from '../engine/deadline.js'
import type { Engine, ReadOptions } from '../engine/engine.js'
import { ServiceError } from '../errors.js'
import type { Filter } from '../query/read-filters.js'
import { nearestTexts, quoted } from '../text.js'

/** All the work that an empty answer may cost besides itself. */
const explainTimeoutMs = 2000
const filtersMax = 8
/** A column of more values, or of fewer rows a value, holds no codes but what rows are sold for. */
const codesMax = 1000
const rowsPerCodeMin = 2
const nearestMax = 5

/** Why no row meets the filters of a question, as a sentence or two. */
export interface EmptyReason {
  readonly text: string
  /** It tells which rows the other filters leave, and was paid for like a row. */
  readonly isPaid: boolean
}

export interface ExplainOptions extends ReadOptions {
  /**
   * Pays for one row, durably; false when none is left. Null where the caller declined the part of
   * the explanation that costs one.
   */
  readonly payRow: ((signal: AbortSignal) => Promise<boolean>) | null
}

/** A question that no row meets, and the means to ask why. */
interface Puzzle {
  readonly engine: Engine
  readonly access: Access
  /** Those that any row can fail to meet. */
  readonly filters: readonly Filter[]
  readonly options: ExplainOptions
}

/**
 * Why no row meets the filters: which single filter left nothing, and the values nearest to it.
 *
 * What it tells of rows under the other filters is worth a row, whose cells it could be used to
 * guess one bit at a time: it is paid for when it is known, before it is returned, and left out
 * where that can't be. Free is what depends on no other filter: whether the window holds any row,
 * the cause where there is only one filter, and values of history and code columns in the whole
 * window. Null where there is nothing to say, or no time to find it out.
 */
export async function explainEmpty(
  engine: Engine,
  access: Access,
  filters: readonly Filter[],
  options: ExplainOptions,
): Promise<EmptyReason | null> {
  if (filters.length > filtersMax) return null
  const narrowing = filters.filter(({ predicates }) => predicates.length > 0)
  try {
    return await withDeadline(explainTimeoutMs, options.signal, (signal) =>
      explain({ engine, access, filters: narrowing, options: { ...options, signal } }),
    )
  } catch (cause) {
    const isBusyOrLate =
      cause instanceof ServiceError && ['timeout', 'service_unavailable'].includes(cause.code)
    if (isBusyOrLate && !options.signal.aborted) return null
    throw cause
  }
}

async function explain(puzzle: Puzzle): Promise<EmptyReason | null> {
  const { filters, options } = puzzle
  if (!(await hasRows(puzzle, []))) {
    return { text: 'There is no row that this token can see.', isPaid: false }
  }
  if (filters.length === 1) return { text: await blame(puzzle, filters), isPaid: false }
  if (options.payRow) {
    const text = await blame(puzzle, await findGuilty(puzzle))
    if (await options.payRow(options.signal)) return { text, isPaid: true }
  }
  const text = await nearTexts(puzzle, filters)
  return text === '' ? null : { text, isPaid: false }
}

/** The filters without any one of which there are rows. */
async function findGuilty(puzzle: Puzzle): Promise<readonly Filter[]> {
  const guilty: Filter[] = []
  for (const filter of puzzle.filters) {
    if (await hasRows(puzzle, without(puzzle, filter))) guilty.push(filter)
  }
  return guilty
}

/** The guilty filters by name, and values near theirs that the other filters leave. */
async function blame(puzzle: Puzzle, guilty: readonly Filter[]): Promise<string> {
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
    const near = await nearValues(puzzle, filter, without(puzzle, filter))
    if (near.length > 0) {
      sentences.push(`Values of ${filter.column.name} near it: ${near.join(', ')}.`)
    }
  }
  return sentences.join(' ')
}

/** Values near those of each filter in the whole window, whatever the other filters leave. */
async function nearTexts(puzzle: Puzzle, filters: readonly Filter[]): Promise<string> {
  const sentences: string[] = []
  for (const filter of filters) {
    const near = await nearValues(puzzle, filter, [])
    const [wanted = ''] = filter.texts
    if (near.length > 0) {
      sentences.push(`Values of ${filter.column.name} near ${quoted(wanted)}: ${near.join(', ')}.`)
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

/**
 * JSON texts; none where values say nothing, or may not be shown: those of the history column among
 * the rows that meet `others`, and of codes in the whole window.
 */
async function nearValues(
  { engine, access, options }: Puzzle,
  { column, texts }: Filter,
  others: readonly Predicate[],
): Promise<readonly string[]> {
  const [wanted] = texts
  if (wanted === undefined) return []
  const { version } = access
  const isHistory = column === version.history
  const predicates = [...access.predicates, ...(isHistory ? others : [])]
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
