import type { Access } from '../access/access.js'
import type { Language } from '../config.js'
import type { ShownType } from '../columns/column-types.js'
import type { Column } from '../columns/column.js'
import { columnAggregates, columnGroups, isGroupable } from '../columns/functions.js'
import { levelText } from '../query/summary/read-groups.js'
import { measureFormula, usableMeasures } from '../query/summary/read-measures.js'
import { historyOf } from '../query/summary/read-operands.js'
import { groupTariff } from '../query/summary/resolve-summary.js'

/** Which aggregates a dataset has. Every text is written as in a request. */
export interface AggregateFacts {
  /** A group costs this many rows, times the rows that carry as many cells. */
  readonly rows_per_group: number
  /** For each type of the dataset's columns, in the order of the columns. */
  readonly functions: readonly TypeFunctions[]
  /** The registry's measures. */
  readonly measures: readonly {
    readonly name: string
    readonly label: string | null
    /** What it is made of: `ratio(2400/2110)`. */
    readonly formula: string
    readonly unit: string | null
    readonly description: string | null
  }[]
}

interface TypeFunctions {
  readonly type: ShownType
  readonly measures: readonly string[]
  readonly group: readonly string[]
}

/** What the registry says of a column of codes. */
export interface CodeGuide {
  /** The group of each level by its name: `{class: "prefix(okved,2)"}`. */
  readonly levels?: Readonly<Record<string, string>>
  /** What the levels are called, those that have a label. */
  readonly level_labels?: Readonly<Record<string, string>>
  /** The codes have names, which `labels` adds. */
  readonly labels?: true
}

/** Null if aggregates are switched off for this access. */
export function aggregateFacts(
  access: Pick<Access, 'dataset' | 'plan' | 'columns' | 'version'>,
): AggregateFacts | null {
  const tariff = groupTariff(access)
  if (!tariff) return null
  return {
    rows_per_group: tariff.rowsPerGroup,
    functions: typeFunctions(access),
    measures: usableMeasures(access).map((measure) => ({
      name: measure.name,
      label: measure.label,
      formula: measureFormula(measure),
      unit: measure.unit,
      description: measure.description,
    })),
  }
}

/** Empty for a column that has no codes. */
export function codeGuide({ name, levels, labels }: Column, language: Language = 'en'): CodeGuide {
  const groups = levels.map((level) => [level.name, levelText(name, level)] as const)
  const called = levels.flatMap(({ name: level, label, russian }) => {
    const shown = (language === 'ru' ? russian.label : null) ?? label
    return shown === null ? [] : [[level, shown] as const]
  })
  return {
    ...(groups.length > 0 && { levels: Object.fromEntries(groups) }),
    ...(called.length > 0 && { level_labels: Object.fromEntries(called) }),
    ...(labels && { labels: true }),
  }
}

function typeFunctions(access: Pick<Access, 'columns' | 'version'>): readonly TypeFunctions[] {
  const { columns } = access
  // Without a history, there are no two values to compare.
  const has = (name: string) => name !== 'growth' || historyOf(access) !== null
  const byType = new Map(columns.map((column) => [column.rules.shown, column]))
  return [...byType].map(([type, column]) => ({
    type,
    measures: columnAggregates(column)
      .filter(has)
      .map((name) => (name === 'pN' ? 'p1 to p99' : name)),
    group: [
      ...(isGroupable(column) ? ['column'] : []),
      ...columnGroups(column).map((name) => `${name}(column${name === 'prefix' ? ',n' : ''})`),
    ],
  }))
}
