import { thousandSpaces } from '../../../versions/tables/cell-type.js'
import type { CellType } from '../../../versions/tables/cell-type.js'
import { literal } from '../sql.js'

const dottedDay = String.raw`^(\d\d)\.(\d\d)\.(\d{4})`
const isoDay = String.raw`\3-\2-\1`

/** SQL of a cell's value in its type, from SQL of its text; it fails for any other text. */
export function cellSql(text: string, type: CellType): string {
  switch (type.kind) {
    case 'text':
      return text
    case 'integer':
      return `CAST(${numberSql(text)} AS BIGINT)`
    case 'decimal':
      return `CAST(${numberSql(text)} AS DECIMAL(${type.width}, ${type.scale}))`
    case 'double':
      return `CAST(${numberSql(text)} AS DOUBLE)`
    case 'boolean':
      return `lower(trim(${text})) IN ('true', 'истина')`
    case 'date':
      return `CAST(${isoSql(text)} AS DATE)`
    case 'timestamp':
      return `CAST(${isoSql(text)} AS TIMESTAMP)`
    case 'instant':
      return `CAST(${isoSql(text)} AS TIMESTAMPTZ)`
  }
}

function numberSql(text: string): string {
  return `replace(translate(${text}, ${literal(thousandSpaces)}, ''), ',', '.')`
}

function isoSql(text: string): string {
  return `regexp_replace(trim(${text}), ${literal(dottedDay)}, ${literal(isoDay)})`
}
