import type { Access } from '../access/access.js'
import type { Language } from '../config.js'
import type { Column } from '../columns/column.js'
import { columnAggregates, columnGroups, isGroupable } from '../columns/functions.js'
import { levelText } from '../query/summary/read-groups.js'
import { measureFormula, usableMeasures } from '../query/summary/read-measures.js'
import { historyOf } from '../query/summary/read-operands.js'
import { groupTariff } from '../query/summary/resolve-summary.js'
import type { AggregateFacts, ColumnDescription } from './answer-schemas.js'

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
export function codeGuide(
  { name, levels, labels }: Column,
  language: Language = 'en',
): Pick<ColumnDescription, 'levels' | 'level_labels' | 'labels'> {
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

function typeFunctions(access: Pick<Access, 'columns' | 'version'>): AggregateFacts['functions'] {
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
