import type { ShownType } from '../../../columns/column-types.js'
import type { Operator } from '../../../columns/operators.js'

/** A column of the dataset as the page shows it; unknown texts are empty. */
export interface PageColumn {
  readonly name: string
  readonly type: ShownType
  readonly unit: string
  readonly description: string
  readonly operators: readonly Operator[]
}
