import { parseOperand } from '../columns/call-text.js'
import { findAggregate, operandMistake } from '../columns/functions.js'
import { inEnglishOrNull } from './local-text.js'
import { quoted } from '../text.js'
import type { FindColumn } from './column-names.js'
import { functionEntries } from './measure-rules.js'
import type { DatasetEntry } from './registry-schema.js'
import type { Problem } from './registry.js'

/** A measure that the owner defines; callers use it by its name alone. */
export interface DefinedMeasure {
  readonly name: string
  /** `sum`, `p90`, `ratio`. */
  readonly function: string
  /** The shown name of its column, or of two columns of which the first is divided. */
  readonly columns: readonly string[]
  readonly unit: string | null
  readonly description: string | null
}

/** The measures of a dataset's entry, in the registry's order. */
export function definedMeasures({ measures = {} }: DatasetEntry): readonly DefinedMeasure[] {
  return Object.entries(measures).map(([name, measure]) => {
    const [[key = '', operand] = []] = functionEntries(measure)
    return Object.freeze({
      name,
      function: key,
      columns: parseOperand(String(operand)) ?? [],
      unit: inEnglishOrNull(measure.unit),
      description: inEnglishOrNull(measure.description),
    })
  })
}

/** Adds the mistakes that only the files show: unknown columns, and functions against types. */
export function requireMeasureColumns(
  entry: DatasetEntry,
  find: FindColumn,
  problems: Problem[],
): void {
  for (const { name, function: written, columns } of definedMeasures(entry)) {
    const path = ['measures', name, written]
    const found = columns.flatMap((column) => find(column, path) ?? [])
    const hidden = found.find((column) => column.hidden)
    const aggregate = findAggregate(written)
    if (!aggregate || found.length < columns.length) continue
    const message = hidden
      ? `column ${quoted(hidden.name)} is hidden; a measure shows what its columns hold`
      : operandMistake(aggregate.name, written, found)
    if (message !== undefined) problems.push({ path, message })
  }
}
