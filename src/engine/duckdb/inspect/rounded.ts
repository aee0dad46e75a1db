import { typeText } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'

/** A double keeps every number of this many decimal digits. */
const exactDigits = 15

/**
 * True for types that are served as numbers and may hold values that a double can't represent.
 * Wider integers are served as strings.
 */
function mayBeRounded(type: DataType): boolean {
  return type.kind === 'decimal' ? type.width > exactDigits : isBigint(type)
}

function isBigint(type: DataType): boolean {
  return type.kind === 'scalar' && type.name === 'BIGINT'
}

/** SQL that is true for a value that a double can't represent. */
export function isRounded(type: DataType, sql: string): string {
  const limit = Number.MAX_SAFE_INTEGER
  if (!mayBeRounded(type)) return 'false'
  if (isBigint(type)) return `${sql} NOT BETWEEN -${limit} AND ${limit}`
  const back = `TRY_CAST(CAST(${sql} AS DOUBLE) AS ${typeText(type)})`
  return `(${sql} IS NOT NULL AND ${back} IS DISTINCT FROM ${sql})`
}

/**
 * True for the text of such a value: beyond ±(2^53 − 1), or with more digits than a double keeps.
 */
export function isRoundedText(type: DataType, text: string): boolean {
  if (!mayBeRounded(type)) return false
  if (isBigint(type)) return Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER
  const digits = text.replace(/[-.]/g, '').replace(/^0+|0+$/g, '')
  return /^\d+$/.test(digits) && digits.length > exactDigits
}
