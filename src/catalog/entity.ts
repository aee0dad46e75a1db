import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import type { FindColumn } from '../registry/column-names.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import type { Problem } from '../registry/registry.js'
import { quoted } from '../text.js'
import type { Entity, Version } from '../versions/version.js'

const ofTablesText = 'entity is for datasets of files; rows of a table are not found by name'

/**
 * What the rows of a dataset are about; null if the entry does not say it. Adds mistakes to
 * `problems`.
 */
export function entityOf(
  { entity, table }: DatasetEntry,
  find: FindColumn,
  { history, ...parts }: Pick<Entity, 'aliases' | 'demo'> & Pick<Version, 'history'>,
  problems: Problem[],
): Entity | null {
  if (!entity) return null
  if (table !== undefined) problems.push({ path: ['entity'], message: ofTablesText })
  const columnOf = (part: 'key' | 'name' | 'period' | 'rank') => {
    const name = entity[part]
    const path = ['entity', part]
    const column = name === undefined ? undefined : find(name, path)
    const why = column && entityMistake(part, column)
    if (why) problems.push({ path, message: `column ${quoted(column.name)} ${why}` })
    return column ?? null
  }
  const key = columnOf('key')
  const columns = { name: columnOf('name'), period: columnOf('period'), rank: columnOf('rank') }
  if (history && columns.period && columns.period !== history) {
    // Plans see rows by their history: another period would tell of rows outside.
    const message = `period must be the history column, ${quoted(history.name)}`
    problems.push({ path: ['entity', 'period'], message })
  }
  return key && Object.freeze({ key, ...columns, ...parts })
}

/** Why a column can't have this part; null if it can. */
function entityMistake(part: string, column: Column): string | null {
  const { hidden, rules } = column
  if (hidden) return 'is hidden'
  if (part === 'key' && !columnOperators(column).includes('eq')) {
    return `(${rules.shown}) has no operator eq`
  }
  if (part === 'name' && rules.shown !== 'string') return `(${rules.shown}) has no texts`
  if (part === 'rank' && !['integer', 'number'].includes(rules.shown)) {
    return `(${rules.shown}) has no numbers`
  }
  return null
}
