import type { DataType } from '../../../columns/data-type.js'
import { duckdb } from '../dialect.js'

/** SQL that is true of a value without parts; null for types to which it does not apply. */
type PartTest = (value: string, type: DataType) => string | null

/** SQL that is true if the test is of a value, or of one inside it; null if it applies to none. */
export function anyPart(value: string, type: DataType, test: PartTest, depth = 0): string | null {
  const inList = (values: string, element: DataType): string | null => {
    const each = `x${depth}`
    const found = anyPart(each, element, test, depth + 1)
    return found && `len(list_filter(${values}, lambda ${each}: ${found})) > 0`
  }
  switch (type.kind) {
    case 'list':
    case 'array':
      return inList(value, type.element)
    case 'struct':
      return eitherOf(
        type.fields.map((field, index) =>
          anyPart(duckdb.field(value, index + 1), field.type, test, depth),
        ),
      )
    case 'map':
      return eitherOf([
        inList(`map_keys(${value})`, type.key),
        inList(`map_values(${value})`, type.value),
      ])
    default:
      return test(value, type)
  }
}

function eitherOf(conditions: readonly (string | null)[]): string | null {
  const some = conditions.filter((condition) => condition !== null)
  return some.length === 0 ? null : `(${some.join(' OR ')})`
}
