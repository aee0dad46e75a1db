import type { Access } from '../access/access.js'
import { callName } from '../columns/call-text.js'
import type { ShownType } from '../columns/column-types.js'
import type { Column } from '../columns/column.js'
import { columnAggregates, columnGroups, isGroupable } from '../columns/functions.js'
import { prefixText } from '../query/summary/read-groups.js'
import { usableMeasures } from '../query/summary/read-measures.js'
import { groupTariff } from '../query/summary/resolve-summary.js'
import type { ColumnStatistics } from './column-statistics.js'

/** How to ask for aggregates of one dataset. Every text is written as in a request. */
export interface AggregateGuide {
  readonly rows_per_group: number
  /** For each type of the dataset's columns, in the order of the columns. */
  readonly functions: readonly TypeFunctions[]
  /** The registry's measures. */
  readonly measures: readonly {
    readonly name: string
    readonly unit: string | null
    readonly description: string | null
  }[]
  /** A request that is right for this access; it is not run for the guide. */
  readonly example: AggregateExample
}

interface TypeFunctions {
  readonly type: ShownType
  readonly measures: readonly string[]
  readonly group: readonly string[]
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

/** What the registry says of a column of codes. */
export interface CodeGuide {
  /** The group of each level by its name: `{class: "prefix(okved,2)"}`. */
  readonly levels?: Readonly<Record<string, string>>
  /** The codes have names, which `labels` adds. */
  readonly labels?: true
}

/** Rows behind the example: the JSON texts of their cells, in column order. */
interface ExampleFacts {
  readonly columns: readonly ColumnStatistics[] | undefined
  readonly sample_rows: readonly (readonly string[])[]
}

const exampleLimit = 10

/** Null if aggregates are switched off for this access. */
export function aggregateGuide(access: Access, facts: ExampleFacts): AggregateGuide | null {
  const tariff = groupTariff(access)
  if (!tariff) return null
  const measures = usableMeasures(access).map(({ name, defined }) => ({
    name,
    unit: defined?.unit ?? null,
    description: defined?.description ?? null,
  }))
  const group = exampleGroup(access, facts)
  const [measure] = measures.map(({ name }) => callName(name))
  const filters = group?.column === access.version.history ? [] : historyFilter(access, facts)
  return {
    rows_per_group: tariff.rowsPerGroup,
    functions: typeFunctions(access.columns),
    measures,
    example: {
      ...(group && { group: [group.text] }),
      measures: ['count', measure ?? exampleSum(access) ?? []].flat(),
      ...(filters.length > 0 && { filters }),
      order: ['-count'],
      limit: exampleLimit,
    },
  }
}

/** Empty for a column that has no codes. */
export function codeGuide({ name, levels, labels }: Column): CodeGuide {
  const groups = levels.map((level) => [level.name, prefixText(name, level.length)] as const)
  return {
    ...(groups.length > 0 && { levels: Object.fromEntries(groups) }),
    ...(labels && { labels: true }),
  }
}

function typeFunctions(columns: readonly Column[]): readonly TypeFunctions[] {
  const byType = new Map(columns.map((column) => [column.rules.shown, column]))
  return [...byType].map(([type, column]) => ({
    type,
    measures: columnAggregates(column).map((name) => (name === 'pN' ? 'p1 to p99' : name)),
    group: [
      ...(isGroupable(column) ? ['column'] : []),
      ...columnGroups(column).map((name) => `${name}(column${name === 'prefix' ? ',n' : ''})`),
    ],
  }))
}

interface ExampleGroup {
  readonly column: Column
  readonly text: string
}

/** A level of codes, the history, or a column with few values. */
function exampleGroup(access: Access, { columns: facts }: ExampleFacts): ExampleGroup | null {
  const { columns, version } = access
  const coded = columns.find(({ levels }) => levels.length > 0)
  const [level] = coded?.levels ?? []
  if (coded && level) return { column: coded, text: prefixText(coded.name, level.length) }
  const few = columns.find((column, at) => facts?.[at]?.values && isGroupable(column))
  const column = columns.find((each) => each === version.history) ?? few
  if (!column) return null
  const hasYear = columnGroups(column).includes('year')
  const name = callName(column.name)
  return { column, text: hasYear ? `year(${name})` : name }
}

/** The rows of one value of the history column. */
function historyFilter({ columns, version }: Access, { sample_rows: [row] }: ExampleFacts) {
  const place = columns.findIndex((column) => column === version.history)
  const cell = row?.[place] ?? 'null'
  const column = columns[place]
  if (!column || cell === 'null') return []
  return [{ column: column.name, op: 'eq' as const, value: JSON.parse(cell) as unknown }]
}

/** The sum of a number that identifies no row; undefined if there is none. */
function exampleSum({ columns, version }: Access): string | undefined {
  const known = new Set([...version.key, ...(version.history ? [version.history] : [])])
  const column = columns.find((each) => !known.has(each) && columnAggregates(each).includes('sum'))
  return column && `sum(${callName(column.name)})`
}
