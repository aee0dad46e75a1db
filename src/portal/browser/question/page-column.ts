import type { ShownType } from '../../../columns/column-types.js'
import type { Operator } from '../../../columns/operators.js'
import { columnTitle, floatDigits } from '../../writers.js'

/** A column of the dataset, or of an answer, as the page shows it; unknown texts are empty. */
export interface PageColumn {
  readonly name: string
  /** What a heading says; empty without one, and then the name does. */
  readonly label: string
  /** The group of columns that it belongs to. */
  readonly section: string
  readonly type: ShownType
  readonly unit: string
  readonly description: string
  readonly operators: readonly Operator[]
  /** It identifies rows. */
  readonly isKey: boolean
  /** A number that can be added up or drawn. */
  readonly isQuantity: boolean
  /** The portal knows what its values mean. */
  readonly isCode?: boolean
  /** What its values in these rows mean. */
  readonly names?: ReadonlyMap<string, string>
  /** A floating-point number, which has more digits than it knows. */
  readonly isFloat?: boolean
  /** Computed for a group of rows; its digits go on beyond what anybody reads. */
  readonly isComputed?: boolean
  /** Its values for several groups are one value for all of them when they are added up. */
  readonly addsUp?: boolean
}

/** What groups of rows a column makes, and which values it has for a group of rows. */
export interface DatasetColumn extends PageColumn {
  /** Functions such as `sum`; empty if the dataset has no aggregates. */
  readonly measures: readonly string[]
  /** `column`, `prefix(column,n)`, `year(column)` … */
  readonly groups: readonly string[]
  /** The group of each level of codes, by its name. */
  readonly levels: Readonly<Record<string, string>>
  /** What people call a level, by its name; a level may have no label. */
  readonly levelLabels: Readonly<Record<string, string>>
}

/** A measure that the dataset defines. */
export interface DefinedMeasure {
  readonly name: string
  readonly label: string
  readonly unit: string
  readonly description: string
}

const hintLettersMax = 60

/** A value with what it means, where that is known. */
export function namedText({ names }: PageColumn, text: string): string {
  const name = names?.get(text)
  return name === undefined ? text : `${text} · ${name}`
}

/** The digits of a number that people read. */
export function shownDigits({ isFloat = false }: PageColumn, text: string): string {
  return isFloat ? floatDigits(text) : text
}

/** A column as one choice of a list; without a label, the beginning of its description follows. */
export function columnHint(column: Pick<PageColumn, 'name' | 'label' | 'description'>): string {
  const { name, label, description } = column
  if (label !== '') return columnTitle(column)
  const isLong = description.length > hintLettersMax
  const hint = isLong ? `${description.slice(0, hintLettersMax - 1)}…` : description
  return hint === '' ? name : `${name} · ${hint}`
}

/** The choices of a list by section, in the order of the first column of each. */
export function bySection<Column extends Pick<PageColumn, 'section'>, Choice>(
  columns: readonly Column[],
  choicesOf: (column: Column) => readonly Choice[],
): ReadonlyMap<string, readonly Choice[]> {
  const sections = new Map<string, Choice[]>()
  for (const column of columns) {
    const choices = sections.get(column.section) ?? []
    choices.push(...choicesOf(column))
    sections.set(column.section, choices)
  }
  return sections
}
