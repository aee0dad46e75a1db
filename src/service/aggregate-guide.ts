import type { Access } from '../access/access.js'
import type { FirstNames } from '../catalog/first-columns.js'
import { callName } from '../columns/call-text.js'
import type { Column } from '../columns/column.js'
import { columnAggregates, columnGroups, isGroupable } from '../columns/functions.js'
import { levelText } from '../query/summary/read-groups.js'
import type { Version } from '../versions/version.js'
import type { AggregateFacts, ColumnStatistics } from './answer-schemas.js'

export interface AggregateGuide extends AggregateFacts {
  /** A request that is right for this access; it is not run for the guide. */
  readonly example: AggregateExample
}

interface AggregateExample {
  readonly group?: readonly string[]
  readonly measures: readonly string[]
  readonly filters?: readonly {
    readonly column: string
    readonly op: 'eq'
    readonly value: unknown
  }[]
  readonly order: readonly string[]
  readonly limit: number
}

/** Rows behind the example: the JSON texts of their cells, in column order. */
interface ExampleFacts {
  readonly columns: readonly ColumnStatistics[] | undefined
  readonly sample_rows: readonly (readonly string[])[]
}

const exampleLimit = 10

/** Adds an example to the facts. */
export function aggregateGuide(
  access: Access,
  aggregates: AggregateFacts,
  facts: ExampleFacts,
): AggregateGuide {
  const group = exampleGroup(access, facts.columns)
  const amount = exampleAmount(access, facts.columns)
  const [measure] = aggregates.measures.map(({ name }) => callName(name))
  const filters = group?.column === access.version.history ? [] : historyFilter(access, facts)
  return {
    ...aggregates,
    example: {
      ...(group && { group: [group.text] }),
      measures: ['count', measure ?? (amount ? `sum(${callName(amount.name)})` : [])].flat(),
      ...(filters.length > 0 && { filters }),
      order: ['-count'],
      limit: exampleLimit,
    },
  }
}

/** What examples are chosen from. */
export interface ExampleColumns {
  readonly columns: readonly Column[]
  readonly version: Pick<Version, 'key' | 'history'>
  readonly dataset: { readonly firstNames: FirstNames }
}

interface ExampleGroup {
  readonly column: Column
  readonly text: string
}

/** A level of codes, the history, or a column with few values. */
export function exampleGroup(
  { columns, version }: ExampleColumns,
  facts?: readonly ColumnStatistics[],
): ExampleGroup | null {
  const coded = columns.find(({ levels }) => levels.length > 0)
  const [level] = coded?.levels ?? []
  if (coded && level) return { column: coded, text: levelText(coded.name, level) }
  const few = columns.find((column, at) => facts?.[at]?.values && isGroupable(column))
  const column = columns.find((each) => each === version.history) ?? few
  if (!column) return null
  const hasYear = columnGroups(column).includes('year')
  const name = callName(column.name)
  return { column, text: hasYear ? `year(${name})` : name }
}

/** The rows of one year; a single day would be too few. */
function historyFilter({ columns, version }: Access, { sample_rows: [row] }: ExampleFacts) {
  const place = columns.findIndex((column) => column === version.history)
  const cell = row?.[place] ?? 'null'
  const column = columns[place]
  if (!column || cell === 'null' || columnGroups(column).length > 0) return []
  return [{ column: column.name, op: 'eq' as const, value: JSON.parse(cell) as unknown }]
}

/**
 * A number that identifies no row and has values, for a sum: if possible one of a first question,
 * or else with a unit; undefined without such a number.
 */
export function exampleAmount(
  { columns, version, dataset }: ExampleColumns,
  facts?: readonly ColumnStatistics[],
): Column | undefined {
  const known = new Set([...version.key, ...(version.history ? [version.history] : [])])
  const summed = columns.filter(
    (each, at) =>
      !known.has(each) && columnAggregates(each).includes('sum') && facts?.[at]?.null_share !== 1,
  )
  const [first] = dataset.firstNames.stated.flatMap((name) =>
    summed.filter((column) => column.name === name),
  )
  return first ?? summed.find(({ unit }) => unit !== null) ?? summed[0]
}
