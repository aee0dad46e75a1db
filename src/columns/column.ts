import { columnRules, typeOperators } from './column-types.js'
import type { ColumnRules } from './column-types.js'
import type { DataType } from './data-type.js'
import type { Operator } from './operators.js'

/** A column of a dataset as one version has it: the files' name and type, the registry's words. */
export interface Column {
  /** The name users see; unique in the dataset without regard to case. */
  readonly name: string
  /** The name in the files. */
  readonly source: string
  /** The one type of the dataset; files with a narrower type are widened to it. */
  readonly type: DataType
  readonly rules: ColumnRules
  readonly nullable: boolean
  readonly unit: string | null
  readonly description: string | null
  /** Served as a JSON string whatever its type (`json: string` in the registry). */
  readonly asText: boolean
  /** Unknown to every caller. */
  readonly hidden: boolean
}

/** A column with nothing said of it but its name and type. */
export function plainColumn(name: string, type: DataType): Column {
  return {
    name,
    source: name,
    type,
    rules: columnRules(type),
    nullable: true,
    unit: null,
    description: null,
    asText: false,
    hidden: false,
  }
}

/** The operators that filters on this column may use, in the order of documentation. */
export function columnOperators(column: Column): readonly Operator[] {
  return typeOperators[column.rules.shown]
}
