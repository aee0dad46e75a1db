import { isFloat, leavesOf } from '../../columns/data-type.js'
import type { DataType } from '../../columns/data-type.js'
import { textOf } from '../sql/encode.js'
import type { RunStatement } from './run-statement.js'

/** A column of a table, by its SQL. */
export interface TableCell {
  readonly sql: string
  readonly type: DataType
}

/** What the dictionaries of all columns that are written at once may take. */
const dictionariesBytesMax = 500_000_000
/** The default of DuckDB: so much is allocated for each column of texts. */
const dictionaryBytesMax = 1_048_576

/**
 * The option with which COPY writes a table as it is, in bounded memory: DuckDB's dictionaries hold
 * 0.0 and -0.0 as one value, and of a wide table they take gigabytes. Empty, or ends in a comma.
 */
export async function dictionaryOption(
  run: RunStatement,
  table: string,
  cells: readonly TableCell[],
): Promise<string> {
  const signs = cells.flatMap(({ sql, type }) => negativeZero(sql, type) ?? [])
  const bytes = Math.floor(dictionariesBytesMax / Math.max(1, cells.length))
  const bound = bytes < dictionaryBytesMax ? `STRING_DICTIONARY_PAGE_SIZE_LIMIT ${bytes}, ` : ''
  if (signs.length === 0) return bound
  const [[found] = []] = await run({ sql: `SELECT bool_or(${signs.join(' OR ')}) FROM ${table}` })
  return found === true ? 'DICTIONARY_SIZE_LIMIT 0, ' : bound
}

/** SQL that is true for -0.0 in a value; null for a type without it. */
function negativeZero(sql: string, type: DataType): string | null {
  if (isFloat(type)) return `coalesce(${sql} = 0 AND signbit(${sql}), false)`
  const hasFloats = leavesOf(type).some(isFloat)
  return hasFloats ? `coalesce(contains(${textOf(sql)}, '-0.0'), false)` : null
}
