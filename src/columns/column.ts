import { columnRules, typeOperators } from './column-types.js'
import type { ColumnRules } from './column-types.js'
import type { CodeLabels, CodeLevel } from './codes.js'
import type { DataType } from './data-type.js'
import type { Operator } from './operators.js'
import type { KeyCheck } from './tax-number.js'

/** The most characters of a label. */
export const labelLettersMax = 60

/** What people read about a column; null where the registry has no such text. */
export interface ColumnAbout {
  /** What a heading says: `Revenue`. */
  readonly label: string | null
  /** The group of columns that it belongs to: `Income statement`. */
  readonly section: string | null
  /** What one is: `thousand RUB`. */
  readonly unit: string | null
  readonly description: string | null
}

/** The texts about a column, each made from its key. */
export function columnAbout(text: (key: keyof ColumnAbout) => string | null): ColumnAbout {
  return {
    label: text('label'),
    section: text('section'),
    unit: text('unit'),
    description: text('description'),
  }
}

/** A column in one version: its name and type in the files, and what the registry adds. */
export interface Column extends ColumnAbout {
  /** The name that callers see; unique in the dataset, ignoring case. */
  readonly name: string
  /** The name in the files. */
  readonly source: string
  /** The type in the dataset; a narrower type in a file is widened to it. */
  readonly type: DataType
  readonly rules: ColumnRules
  readonly nullable: boolean
  /** The dictionary says that it is never empty, and the files do not prove it. */
  readonly unproven: boolean
  /** The same in Russian, for pages; null where the registry has no such text. */
  readonly russian: ColumnAbout
  /** Served as a JSON string (`json: string` in the registry). */
  readonly asText: boolean
  /** Groups of its codes, the shortest first; none if its values are not codes. */
  readonly levels: readonly CodeLevel[]
  readonly labels: CodeLabels | null
  /** Its texts have a search file, which `contains` reads first. */
  readonly searched: boolean
  /** How tools judge what people write for its values; null = they don't. */
  readonly check: KeyCheck | null
  /** Callers can't tell that the column exists. */
  readonly hidden: boolean
}

const nothing = columnAbout(() => null)

/** A column of which only name and type are known. */
export function plainColumn(name: string, type: DataType): Column {
  return {
    name,
    source: name,
    type,
    rules: columnRules(type),
    nullable: true,
    unproven: false,
    ...nothing,
    russian: nothing,
    asText: false,
    levels: [],
    labels: null,
    searched: false,
    check: null,
    hidden: false,
  }
}

/** True for types whose bounds help to choose files: exactly compared types, and stored text. */
export function hasBounds({ type }: Pick<Column, 'type'>): boolean {
  const { domain } = columnRules(type)
  return domain.kind === 'grid' || (domain.kind === 'text' && domain.form === 'text')
}

/** The digits after the point of a column's exact numbers; null for floating-point numbers. */
export function decimalsOf({ rules: { domain } }: Pick<Column, 'rules'>): number | null {
  return domain.kind === 'grid' ? domain.scale : null
}

/** Whether the registry says that the column's values are codes. */
export function hasCodes({ levels, labels }: Column): boolean {
  return levels.length > 0 || labels !== null
}

/** The operators that filters on this column may use, in documented order. */
export function columnOperators(column: Column): readonly Operator[] {
  return typeOperators[column.rules.shown]
}
