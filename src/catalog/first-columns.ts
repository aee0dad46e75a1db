import type { Column } from '../columns/column.js'
import type { FindColumn } from '../registry/column-names.js'
import { definedMeasures, measuredNames } from '../registry/measures.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import { listOf } from '../registry/registry.js'
import type { Problem } from '../registry/registry.js'

/** What the registry says of the columns that a first question shows; all are shown names. */
export interface FirstNames {
  /** `first_columns`; empty = chosen by rule. */
  readonly stated: readonly string[]
  /** The key columns, then the history column. */
  readonly keys: readonly string[]
  /** The columns that measures are made of. */
  readonly measured: readonly string[]
}

const columnsMax = 6
const problemKey = 'first_columns'

/** The names in a dataset's entry. */
export function firstNamesOf(entry: DatasetEntry): FirstNames {
  return Object.freeze({
    stated: listOf(entry.first_columns),
    keys: [...listOf(entry.key), ...listOf(entry.history)],
    measured: definedMeasures(entry).flatMap(measuredNames),
  })
}

/** Adds the mistakes that only the files show: unknown columns and hidden ones. */
export function requireFirstColumns(
  entry: DatasetEntry,
  find: FindColumn,
  problems: Problem[],
): void {
  for (const [index, name] of listOf(entry.first_columns).entries()) {
    const path = Array.isArray(entry.first_columns) ? [problemKey, index] : [problemKey]
    if (find(name, path)?.hidden) problems.push({ path, message: `column "${name}" is hidden` })
  }
}

/**
 * The columns that a first question shows, in order: those that the registry names; otherwise keys,
 * the first text, those of measures, and amounts. Without the files, `columns` is empty. `isShown`
 * leaves out hidden columns and, where that is known, empty ones.
 */
export function firstColumns(
  { stated, keys, measured }: FirstNames,
  columns: readonly Column[],
  isShown: (name: string) => boolean,
): readonly string[] {
  const named = stated.filter(isShown)
  if (named.length > 0) return named
  const others = columns.filter(({ name }) => !keys.includes(name) && isShown(name))
  const text = others.find(({ rules }) => rules.shown === 'string')
  const unit = mostCommonUnit(columns)
  const amount = others.find((column) => unit !== null && column.unit === unit)
  const found = [text?.name, ...measured, amount?.name]
  const names = [...keys, ...found].filter((name) => name !== undefined)
  const shown = names.filter(isShown)
  const chosen = shown.length > 0 ? shown : others.map(({ name }) => name)
  return [...new Set(chosen)].slice(0, columnsMax)
}

/** In tables of accounts, the most common unit is the currency. */
function mostCommonUnit(columns: readonly Column[]): string | null {
  const counts = new Map<string, number>()
  for (const { unit } of columns) if (unit !== null) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  return [...counts].sort(([, left], [, right]) => right - left)[0]?.[0] ?? null
}
