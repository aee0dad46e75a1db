import { hasWords, searchWords } from '../columns/search-words.js'
import { badRequest } from '../errors.js'
import { exactJsonText } from '../query/exact-json.js'
import type { AggregateGuide } from '../service/aggregate-guide.js'
import type { ColumnDescription } from '../service/answer-schemas.js'
import type { DatasetGuide } from '../service/guides.js'
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
/** Of the usual description. */
const sampleRowsMax = 2
/** Values that are longer on average are left out of the usual description. */
const wordyLetters = 30

/** A column that is emptier says so. */
const emptyShareMin = 0.1

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
 * and their example values are in the answer. `joins` are columns that find rows elsewhere.
 * @throws bad_request for an unknown column
 */
export function describeAnswer(
  guide: DatasetGuide,
  asked: DescribedColumns = {},
  joins: readonly string[] = [],
) {
  const { limit, columns, operators, sample_rows: rows, examples, aggregates, ...rest } = guide
  const { caution, main_columns: _, texts: __, updated_at: ___, ...head } = rest
  const names = asked.columns ?? []
  const search = asked.search ?? ''
  const isWhole = names.length === 0 && search === ''
  const empty = isWhole ? columns.filter(isEmpty).map(({ name }) => name) : []
  const shown = isWhole ? usualColumns(guide) : chosenColumns(guide, names, search)
  const left = columns.length - shown.length - empty.length
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
    columns: shown.map((column) =>
      isWhole ? briefColumn(column, columns.length > allColumnsMax) : columnAnswer(column),
    ),
    ...(empty.length > 0 && { empty_columns: empty }),
    ...(isWhole && joins.length > 0 && { joins }),
    ...(isWhole && { operators: operatorsAnswer(columns, operators) }),
    sample_rows: isWhole
      ? filledValues(columns, sampledColumns(guide), rows.slice(0, sampleRowsMax))
      : filledValues(columns, shown, rows),
  }
  return shortened(hints.length === 0 ? answer : { ...answer, hint: hints.join(' ') })
}

/** No row that the caller sees has a value in it. */
function isEmpty({ null_share: share }: ColumnDescription): boolean {
  return share === 1
}

/** Those of the examples, the first ones to look at; all where an example names none. */
function sampledColumns({
  columns,
  examples: [example],
}: DatasetGuide): readonly ColumnDescription[] {
  const names = example?.select ?? []
  return names.length === 0 ? columns : columns.filter(({ name }) => names.includes(name))
}

/** All columns with values, or the main ones and the most filled of many, in schema order. */
function usualColumns(guide: DatasetGuide): readonly ColumnDescription[] {
  const main = guide.main_columns
  const columns = guide.columns.filter((column) => !isEmpty(column))
  if (guide.columns.length <= allColumnsMax) return columns
  const rank = ({ name, null_share: empty = 0 }: ColumnDescription) =>
    main.includes(name) ? main.indexOf(name) - main.length : empty
  const first = columns.toSorted((left, right) => rank(left) - rank(right)).slice(0, someColumns)
  return columns.filter((column) => first.includes(column))
}

function chosenColumns(
  { columns, texts }: Pick<DatasetGuide, 'columns' | 'texts'>,
  names: readonly string[],
  search: string,
): readonly ColumnDescription[] {
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
  columns: readonly ColumnDescription[],
  shown: readonly ColumnDescription[],
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
function columnAnswer({
  operators: _,
  common: __,
  histogram: ___,
  ...column
}: Partial<ColumnDescription>) {
  return withoutNulls(column)
}

/**
 * Its label says what it is; what its few values mean, only the description does. What is usual is
 * not said: that values may be missing, and that none is. Of many columns, ranges are left out.
 */
function briefColumn(column: ColumnDescription, isOfMany: boolean) {
  const { section: _, description, nullable, min, max, null_share: empty, ...others } = column
  const { values, level_labels: __, ...head } = others
  const isSaid = column.label !== null && (column.values === undefined || column.labels)
  return columnAnswer({
    ...head,
    ...(values && !areLong(values) && { values }),
    ...(!nullable && { nullable }),
    ...(!isOfMany && min !== undefined && { min, max }),
    ...(empty !== undefined && empty >= emptyShareMin && { null_share: empty }),
    ...(!isSaid && { description }),
  })
}

/** Names and sentences of a few rows, not classes to filter by. */
function areLong(values: readonly unknown[]): boolean {
  return values.map(String).join('').length > wordyLetters * values.length
}

/** A filter with each of them; the examples have others. */
const shownForms: readonly string[] = ['like', 'contains', 'is_null']

/** The operators of the types that have the same, and a filter of each form. */
function operatorsAnswer(
  columns: readonly ColumnDescription[],
  operators: DatasetGuide['operators'],
): object {
  const types = [...new Set(columns.map(({ type }) => type))]
  const namesOf = (type: (typeof types)[number]) =>
    operators.filter((each) => each.types.includes(type)).map(({ op }) => op)
  return {
    by_type: Object.fromEntries(
      [...Map.groupBy(types, (type) => namesOf(type).join()).values()].map((same) => {
        return [same.join(', '), same.slice(0, 1).flatMap(namesOf)]
      }),
    ),
    examples: operators.filter(({ op }) => shownForms.includes(op)).map(({ example }) => example),
  }
}

/** What the tool does not say of aggregates itself, with an example as its arguments. */
function aggregateAnswer(resource: string, { example, ...guide }: AggregateGuide) {
  return {
    rows_per_group: guide.rows_per_group,
    measures: guide.measures.map(({ name, label, formula, unit }) =>
      withoutNulls({ name, label: isSame(name, label) ? null : label, formula, unit }),
    ),
    example: { arguments: { resource, ...example } },
  }
}

/** `net_margin` and "Net margin" say the same. */
function isSame(name: string, label: string | null): boolean {
  return label?.toLowerCase().replace(/[^a-z0-9]+/g, '_') === name
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
