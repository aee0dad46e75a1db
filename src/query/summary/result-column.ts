import { plainColumn } from '../../columns/column.js'
import type { Column } from '../../columns/column.js'
import type { DataType, ScalarName } from '../../columns/data-type.js'
import type { GroupBy, Measure } from '../summary.js'

const [bigint, double, text] = (['BIGINT', 'DOUBLE', 'VARCHAR'] as const).map(scalar)

/** The column of a group or a measure in the answer: its key and the type of its values. */
export function resultColumn(part: GroupBy | Measure): Column {
  return 'by' in part ? groupColumn(part) : measureColumn(part)
}

function groupColumn({ name, column, by }: GroupBy): Column {
  if (by.kind === 'value') return { ...column, name, source: name }
  return plainColumn(name, (by.kind === 'year' ? bigint : text) ?? column.type)
}

function measureColumn({ name, aggregate }: Measure): Column {
  switch (aggregate.kind) {
    case 'count':
    case 'distinct':
      return plainColumn(name, scalar('BIGINT'))
    case 'sum': {
      const { column } = aggregate
      return { ...plainColumn(name, sumType(column.type)), asText: column.asText }
    }
    case 'min':
    case 'max':
      return { ...aggregate.column, name, source: name }
    default:
      return plainColumn(name, double ?? scalar('DOUBLE'))
  }
}

function sumType(type: DataType): DataType {
  if (type.kind === 'decimal') return { ...type, width: 38 }
  const isFloat = type.kind === 'scalar' && ['FLOAT', 'DOUBLE'].includes(type.name)
  return isFloat ? scalar('DOUBLE') : { kind: 'decimal', width: 38, scale: 0 }
}

function scalar(name: ScalarName): DataType {
  return { kind: 'scalar', name }
}
