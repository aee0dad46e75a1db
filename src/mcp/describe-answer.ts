import { hasWords, searchWords } from '../columns/search-words.js'
import { badRequest } from '../errors.js'
import { exactJsonText } from '../query/exact-json.js'
import type { AggregateGuide } from '../service/aggregate-guide.js'
import type { ColumnGuide, DatasetGuide } from '../service/guides.js'
import { didYouMean, quoted } from '../text.js'
import { columnValues } from './query-answer.js'
import { usualLimit } from './tools.js'

/** Clients store longer answers aside, and their model has to search in them. */
const lettersMax = 50_000
/**
 * A dataset with more columns is described by keys and history, what measures are made of, and the
 * most filled ones.
 */
const allColumnsMax = 40
const someColumns = 24

/** Fields that a description of many columns or long values can leave out, in this order. */
const droppable = ['sample_rows', 'values', 'min', 'max', 'null_share', 'description']

/** The columns that the caller asks for; with none of both, the usual description. */
export interface DescribedColumns {
  readonly columns?: readonly string[] | undefined
  /** Words in what people read of a column, in English or in Russian. */
  readonly search?: string | undefined
}

/**
 * The answer of `describe_resource`, for `exactJsonText`: the guide, with example rows by column
 * and calls of `query`. A caller that asks for columns has these parts already: only its columns
 * and their example values are in the answer.
 * @throws bad_request for an unknown column
 */
export function describeAnswer(guide: DatasetGuide, asked: DescribedColumns = {}) {
  const { limit, columns, operators, sample_rows: rows, examples, aggregates, ...rest } = guide
  const { caution, main_columns: _, texts: __, ...head } = rest
  const names = asked.columns ?? []
  const search = asked.search ?? ''
  const isWhole = names.length === 0 && search === ''
  const shown = isWhole ? usualColumns(guide) : chosenColumns(guide, names, search)
  const left = columns.length - shown.length
  const hints = [
    ...(caution === null ? [] : [caution]),
    ...(isWhole && left > 0 ? [`${left} more columns: ask with columns or search.`] : []),
    ...(shown.length === 0
      ? [`No column has ${quoted(search)} in its name, label, section or description.`]
      : []),
  ]
  const answer = {
    ...head,
    limit: { default: Math.min(usualLimit, limit.max), max: limit.max },
    ...(isWhole && {
      examples: examples.map(({ purpose, row_count: rowCount, ...question }) => ({
        purpose,
        arguments: { resource: guide.name, ...question },
        row_count: rowCount,
      })),
    }),
    ...(isWhole && aggregates && { aggregates: aggregateAnswer(guide.name, aggregates) }),
    columns: shown.map(isWhole ? briefColumn : columnAnswer),
    ...(isWhole && { operators }),
    sample_rows: filledValues(columns, shown, rows),
  }
  return shortened(hints.length === 0 ? answer : { ...answer, hint: hints.join(' ') })
}

/** All columns, or the main ones and the most filled of many, in schema order. */
function usualColumns({ columns, main_columns: main }: DatasetGuide): readonly ColumnGuide[] {
  if (columns.length <= allColumnsMax) return columns
  const rank = ({ name, null_share: empty = 0 }: ColumnGuide) =>
    main.includes(name) ? main.indexOf(name) - main.length : empty
  const first = columns.toSorted((left, right) => rank(left) - rank(right)).slice(0, someColumns)
  return columns.filter((column) => first.includes(column))
}

function chosenColumns(
  { columns, texts }: Pick<DatasetGuide, 'columns' | 'texts'>,
  names: readonly string[],
  search: string,
): readonly ColumnGuide[] {
  const known = columns.map(({ name }) => name)
  for (const name of names) {
    if (known.includes(name)) continue
    throw badRequest(`There is no column ${quoted(name)}.${didYouMean(name, known)}`)
  }
  const words = search === '' ? [] : searchWords(search, 'search')
  return columns.filter(
    ({ name }, at) =>
      (names.length === 0 || names.includes(name)) && hasWords(texts[at] ?? '', words),
  )
}

/** Example values of the shown columns that have any. */
function filledValues(
  columns: readonly ColumnGuide[],
  shown: readonly ColumnGuide[],
  rows: DatasetGuide['sample_rows'],
) {
  const names = columns.map(({ name }) => name)
  const isFilled = (name: string) => {
    const place = names.indexOf(name)
    return rows.length === 0 || rows.some((cells) => (cells[place] ?? 'null') !== 'null')
  }
  const filled = shown.map(({ name }) => name).filter(isFilled)
  const cells = rows.map((row) => filled.map((name) => row[names.indexOf(name)] ?? 'null'))
  return columnValues(filled, cells)
}

/** Leaves out what stands once for each type, and what an agent asks for as an aggregate. */
function columnAnswer({ operators: _, common: __, histogram: ___, ...column }: ColumnGuide) {
  return withoutNulls(column)
}

/** Its label says what it is; what its few values mean, only the description does. */
function briefColumn({ section: _, description, ...column }: ColumnGuide) {
  const isSaid = column.label !== null && column.values === undefined
  return columnAnswer({ ...column, section: null, description: isSaid ? null : description })
}

/** How to ask for aggregates, with an example as arguments of the tool. */
function aggregateAnswer(resource: string, { example, measures, ...guide }: AggregateGuide) {
  return {
    ...guide,
    measures: measures.map(withoutNulls),
    example: { purpose: 'one row for each group', arguments: { resource, ...example } },
  }
}

/** Leaves out texts that are missing. */
function withoutNulls<T extends object>(part: T) {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null))
}

interface ShortenedGuide {
  readonly columns: readonly object[]
  readonly sample_rows: object
  readonly hint?: string
}

/** The whole answer, or one without as many fields as necessary, and with a hint. */
function shortened(answer: ShortenedGuide): ShortenedGuide {
  for (let count = 0; count < droppable.length; count++) {
    const shorter = count === 0 ? answer : without(answer, droppable.slice(0, count))
    if (exactJsonText(shorter).length <= lettersMax) return shorter
  }
  return without(answer, droppable)
}

function without(answer: ShortenedGuide, left: readonly string[]) {
  return {
    ...answer,
    columns: answer.columns.map((column) =>
      Object.fromEntries(Object.entries(column).filter(([key]) => !left.includes(key))),
    ),
    ...(left.includes('sample_rows') && { sample_rows: {} }),
    hint: [answer.hint ?? [], `Left out, to keep this short: ${left.join(', ')}.`].flat().join(' '),
  }
}
