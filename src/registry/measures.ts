import { parseArgument } from '../columns/call-text.js'
import type { Column } from '../columns/column.js'
import { meantSide, plainOperand, resolveSide } from '../columns/formula.js'
import type { Operand } from '../columns/formula.js'
import { findAggregate } from '../columns/functions.js'
import { operandMistake } from '../columns/operand-rules.js'
import { inEnglishOrNull, inRussian } from './local-text.js'
import { quoted } from '../text.js'
import { columnFinder } from './column-names.js'
import { functionEntries } from './measure-rules.js'
import type { DatasetEntry } from './registry-schema.js'
import type { Problem } from './registry.js'

/** A measure that the owner defines; callers use it by its name alone. */
export interface DefinedMeasure {
  readonly name: string
  /** `sum`, `p90`, `ratio`. */
  readonly function: string
  /** Its column, or two sides of which the first is divided; columns by their shown names. */
  readonly operands: readonly Operand[]
  readonly label: string | null
  readonly unit: string | null
  readonly description: string | null
  /** The same in Russian, for pages; null where the registry has no such text. */
  readonly russian: {
    readonly label: string | null
    readonly unit: string | null
    readonly description: string | null
  }
}

/** The measures of a dataset's entry, in the registry's order. */
export function definedMeasures({ measures = {} }: DatasetEntry): readonly DefinedMeasure[] {
  return Object.entries(measures).map(([name, measure]) => {
    const [[key = '', operand] = []] = functionEntries(measure)
    return Object.freeze({
      name,
      function: key,
      operands: parseArgument(String(operand)) ?? [],
      label: inEnglishOrNull(measure.label),
      unit: inEnglishOrNull(measure.unit),
      description: inEnglishOrNull(measure.description),
      russian: {
        label: inRussian(measure.label),
        unit: inRussian(measure.unit),
        description: inRussian(measure.description),
      },
    })
  })
}

/** The names that a measure is made of: a name that is also a formula may be either. */
export function measuredNames({ operands }: Pick<DefinedMeasure, 'operands'>): readonly string[] {
  return operands.flatMap(({ name, side }) => [
    name,
    ...(side?.terms ?? []).map((term) => term.name),
  ])
}

/** Adds the mistakes that only the files show: unknown columns, and functions against types. */
export function requireMeasureColumns(
  entry: DatasetEntry,
  columns: readonly Column[],
  history: Column | null,
  problems: Problem[],
): void {
  const find = columnFinder(columns, problems)
  const isColumn = (name: string) => columns.some((column) => column.name === name)
  for (const { name, function: written, operands } of definedMeasures(entry)) {
    const path = ['measures', name, written]
    const sides = operands.flatMap((operand) => {
      const side = meantSide(operand, isColumn) ?? plainOperand(operand.name).side
      return (side && resolveSide(side, (column) => find(column, path))) ?? []
    })
    const aggregate = findAggregate(written)
    if (!aggregate || sides.length < operands.length) continue
    const used = sides.flatMap(({ terms }) => terms.map(({ column }) => column))
    const hidden = used.find((column) => column.hidden)
    const message = hidden
      ? `column ${quoted(hidden.name)} is hidden; a measure shows what its columns hold`
      : operandMistake(aggregate.name, written, sides, history?.hidden ? null : history)
    if (message !== undefined) problems.push({ path, message })
  }
}
