import type { Access } from '../access/access.js'
import type { Clock } from '../clock.js'
import type { Column } from '../columns/column.js'
import type { Predicate } from '../columns/predicate.js'
import { withDeadline } from '../engine/deadline.js'
import type { Engine, ReadOptions } from '../engine/engine.js'
import { ServiceError } from '../errors.js'
import { filterHint } from '../query/filter-hint.js'
import type { Filter } from '../query/read-filters.js'
import { listed, nearestTexts, quoted } from '../text.js'

/** The time for all work on one explanation. */
const explainTimeoutMs = 2000
const filtersMax = 8
/** A column with more values, or fewer keys per value, holds no codes but data for sale. */
const codesMax = 1000
const keysPerCodeMin = 2
const nearestMax = 5
/** Each is a question to the engine. */
const wordsMax = 8

/** Why no row meets the filters of a question, in one or two sentences. */
export interface EmptyReason {
  readonly text: string
  /** The text reveals which rows the other filters match, and cost one row. */
  readonly isPaid: boolean
}

export interface ExplainOptions extends ReadOptions {
  /** The question leaves out rows without a value in this column. */
  readonly needed?: Column
  /**
   * Pays for one row, durably; false if the quota has none left. Null if the caller declined the
   * paid part of the explanation.
   */
  readonly payRow: ((signal: AbortSignal) => Promise<boolean>) | null
}

/** A question without matching rows, and the parts needed to explain it. */
interface EmptyQuestion {
  readonly engine: Engine
  readonly access: Access
  /** The filters that a row can fail. */
  readonly filters: readonly Filter[]
  readonly options: ExplainOptions
}

/**
 * Explains why no row meets the filters: which single filter is the cause, and its nearest values.
 *
 * The facts about rows under the other filters would let a caller guess a row bit by bit. So they
 * cost one row, which is paid before they are returned; without payment they are omitted. Facts
 * that depend on no other filter are free: whether the window has rows, the cause if there is only
 * one filter, and values of history and code columns in the whole window. Null if there is nothing
 * to say, or no time to find it.
 */
export async function explainEmpty(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  access: Access,
  filters: readonly Filter[],
  options: ExplainOptions,
): Promise<EmptyReason | null> {
  if (filters.length > filtersMax) return null
  const narrowing = filters.filter(({ predicates }) => predicates.length > 0)
  try {
    const reason = await withDeadline(clock, explainTimeoutMs, options.signal, (signal) =>
      explain({ engine, access, filters: narrowing, options: { ...options, signal } }),
    )
    const hint = filterHint(filters)
    if (hint === null) return reason
    const text = reason ? `${hint} ${reason.text}` : hint
    return { text, isPaid: reason?.isPaid ?? false }
  } catch (cause) {
    const isBusyOrLate =
      cause instanceof ServiceError && ['timeout', 'service_unavailable'].includes(cause.code)
    if (isBusyOrLate && !options.signal.aborted) return null
    throw cause
  }
}

async function explain(empty: EmptyQuestion): Promise<EmptyReason | null> {
  const { filters, options } = empty
  if (!(await hasRows(empty, []))) {
    return { text: 'There is no row that this token can see.', isPaid: false }
  }
  if (options.needed) {
    const without = noValueText(options.needed, filters)
    return { text: [without, await nearTexts(empty, filters)].join(' ').trim(), isPaid: false }
  }
  const [first, ...others] = filters
  if (first && others.length === 0 && !hasManyWords(first)) {
    return { text: await causeText(empty, filters), isPaid: false }
  }
  if (options.payRow) {
    const causes = others.length === 0 ? filters : await findCauses(empty)
    const text = await causeText(empty, causes)
    if (await options.payRow(options.signal)) return { text, isPaid: true }
  }
  const text = await nearTexts(empty, filters)
  return text === '' ? null : { text, isPaid: false }
}

/** That a row meets the filters and lacks the value is not told: it would cost one row. */
function noValueText({ name }: Column, filters: readonly Filter[]): string {
  const rows = filters.length === 0 ? 'No row' : 'No row that meets the filters'
  return `${rows} has a value in ${name}; rows without one are left out.`
}

/** The filters without which, one at a time, the question has rows. */
async function findCauses(empty: EmptyQuestion): Promise<readonly Filter[]> {
  const causes: Filter[] = []
  for (const filter of empty.filters) {
    if (await hasRows(empty, without(empty, filter))) causes.push(filter)
  }
  return causes
}

/** The causing filters, and near values among the rows that meet the other filters. */
async function causeText(empty: EmptyQuestion, causes: readonly Filter[]): Promise<string> {
  if (causes.length === 0) {
    return (
      'No single filter is the cause: without any one of them there is still no row. ' +
      'Leave out two or more.'
    )
  }
  const names = causes.map(shownFilter).join(', ')
  const sentences = [
    causes.length === 1
      ? `The filter ${names} leaves no row; without it there are rows.`
      : `Together the filters leave no row; without any one of these there are rows: ${names}.`,
  ]
  for (const filter of causes) {
    if (hasManyWords(filter)) sentences.push(await wordsText(empty, filter))
    const near = await nearValues(empty, filter, without(empty, filter))
    if (near.length > 0) {
      sentences.push(`Values of ${filter.column.name} near it: ${near.join(', ')}.`)
    }
  }
  return sentences.join(' ')
}

const hasManyWords = ({ operator, predicates }: Filter) =>
  operator === 'contains' && predicates.length > 1

/** Which words of a search are in no row that the caller may see, whatever the other filters. */
async function wordsText(empty: EmptyQuestion, { column, predicates }: Filter): Promise<string> {
  const nowhere: string[] = []
  const words = predicates.slice(0, wordsMax)
  for (const word of words) {
    const isNowhere = !(await hasRows(empty, [word]))
    if (isNowhere && word.kind === 'contains') nowhere.push(quoted(word.value))
  }
  if (nowhere.length > 0) return `No row has ${listed(nowhere)} in ${column.name}.`
  const each = words.length < predicates.length ? `The first ${wordsMax} words` : 'Each word'
  return `${each} is in a row, but no row has all of them in ${column.name}.`
}

/** Near values of each filter in the whole window; ignores the other filters. */
async function nearTexts(empty: EmptyQuestion, filters: readonly Filter[]): Promise<string> {
  const sentences: string[] = []
  for (const filter of filters) {
    const near = await nearValues(empty, filter, [])
    const [wanted = ''] = filter.texts
    if (near.length > 0) {
      sentences.push(`Values of ${filter.column.name} near ${quoted(wanted)}: ${near.join(', ')}.`)
    }
  }
  return sentences.join(' ')
}

function without({ filters }: EmptyQuestion, filter: Filter): readonly Predicate[] {
  return filters.flatMap((each) => (each === filter ? [] : each.predicates))
}

async function hasRows(
  { engine, access, options }: EmptyQuestion,
  filters: readonly Predicate[],
): Promise<boolean> {
  const { version, columns } = access
  const predicates = [...access.predicates, ...filters]
  const question = { version, predicates, columns: columns.slice(0, 1), after: null, limit: 1 }
  return (await engine.read(question, options)).rows.length > 0
}

/**
 * Returns JSON texts: the history column's values among the rows that meet `others`, or a code
 * column's values in the whole window. Empty for other columns: their values are not shown.
 */
async function nearValues(
  { engine, access, options }: EmptyQuestion,
  { column, operator, texts }: Filter,
  others: readonly Predicate[],
): Promise<readonly string[]> {
  const [wanted] = texts
  if (wanted === undefined || operator === 'contains') return []
  const { version } = access
  const isHistory = column === version.history
  const [key] = version.key
  const own = isHistory ? others : [{ kind: 'not_null', column } as const]
  const predicates = [...access.predicates, ...own]
  const columns = isHistory || !key ? [column] : [column, key]
  const question = { version, predicates, columns, valuesMax: codesMax, rowsMax: null }
  const profile = await engine.profile(question, options)
  const [values, keys] = profile.columns.map((each) => each.values)
  if (!values) return []
  const owners = key ? (keys?.length ?? codesMax) : profile.rows
  const areCodes = isHistory || owners >= values.length * keysPerCodeMin
  return areCodes ? nearest(column, wanted, values) : []
}

/** The nearest values: numbers and dates by size, text by its start; empty if a value meets it. */
function nearest(
  { rules }: Column,
  wanted: string,
  ascending: readonly string[],
): readonly string[] {
  if (rules.shown === 'string') {
    const texts = ascending.map((json) => JSON.parse(json) as string)
    const start = wanted.replace(/\*$/, '')
    const isMet = start === wanted ? texts.includes(wanted) : texts.some((t) => t.startsWith(start))
    return isMet ? [] : nearestTexts(start, texts, nearestMax).map(quoted)
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
