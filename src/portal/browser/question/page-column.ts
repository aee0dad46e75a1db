import type { ShownType } from '../../../columns/column-types.js'
import type { Operator } from '../../../columns/operators.js'

/** A column of the dataset, or of an answer, as the page shows it; unknown texts are empty. */
export interface PageColumn {
  readonly name: string
  /** Stands for the name at the head of a table. */
  readonly heading?: string
  readonly type: ShownType
  readonly unit: string
  readonly description: string
  readonly operators: readonly Operator[]
  /** It identifies rows. */
  readonly isKey: boolean
  /** A number that can be added up or drawn. */
  readonly isQuantity: boolean
}

/** What groups of rows a column makes, and which values it has for a group of rows. */
export interface DatasetColumn extends PageColumn {
  /** Functions such as `sum`; empty if the dataset has no aggregates. */
  readonly measures: readonly string[]
  /** `column`, `prefix(column,n)`, `year(column)` … */
  readonly groups: readonly string[]
  /** The group of each level of codes, by its name. */
  readonly levels: Readonly<Record<string, string>>
}

/** A measure that the dataset defines. */
export interface DefinedMeasure {
  readonly name: string
  readonly unit: string
  readonly description: string
}

const hintLettersMax = 60

/** The name of a column and the beginning of its description, as one choice of a list. */
export function columnHint({
  name,
  description,
}: Pick<PageColumn, 'name' | 'description'>): string {
  const isLong = description.length > hintLettersMax
  const hint = isLong ? `${description.slice(0, hintLettersMax - 1)}…` : description
  return hint === '' ? name : `${name} · ${hint}`
}
