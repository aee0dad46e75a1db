import { bindBigint, bindText, bindTexts } from '../../src/engine/duckdb/bind.js'
import type { BoundValue } from '../../src/engine/duckdb/bind.js'
import type { Question } from './questions.js'

/** One file, and what it may hold. */
export interface FileBounds {
  readonly path: string
  readonly inn: { readonly min: string; readonly max: string }
  readonly year: { readonly min: number; readonly max: number }
}

/** The files that can hold what is asked for: all that an engine should be given. */
export function chooseFiles(
  files: readonly FileBounds[],
  { inns, year }: Question,
): readonly string[] {
  return files
    .filter((file) => year === null || (file.year.min <= year && year <= file.year.max))
    .filter((file) => {
      const isInside = (inn: string) => file.inn.min <= inn && inn <= file.inn.max
      return inns.length === 0 || inns.some(isInside)
    })
    .map(({ path }) => path)
}

/**
 * The statement that a good engineer would write by hand, one for each shape of question: rows as
 * JSON text, the files as a parameter, so that the statement is planned with the values at hand.
 */
export function sqlOf({ select, inns, year, okved }: Question, columns: readonly string[]): string {
  let last = 1
  const next = () => `$${(last += 1)}`
  const list = inns.map(next)
  const conditions = [
    ...(list.length === 0 ? [] : [list[1] ? `inn IN (${list.join(', ')})` : `inn = ${list[0]}`]),
    ...(year === null ? [] : [`year = ${next()}::INTEGER`]),
    ...(okved === null ? [] : [`starts_with(okved, ${next()})`]),
  ]
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const from = 'FROM read_parquet($1::VARCHAR[])'
  return `SELECT ${jsonOf(select ?? columns)} ${from} ${where} LIMIT ${next()}`
}

/** The values of `sqlOf`, in their order. */
export function valuesOf(question: Question, files: readonly string[]): readonly BoundValue[] {
  const { inns, year, okved, limit } = question
  return [
    bindTexts(files),
    ...inns.map(bindText),
    ...(year === null ? [] : [bindBigint(year)]),
    ...(okved === null ? [] : [bindText(okved)]),
    bindBigint(limit),
  ]
}

/** A page of a walk over one file from a row on, with the row number of each. */
export function walkSqlOf({ select }: Question, columns: readonly string[]): string {
  return `SELECT ${jsonOf(select ?? columns)}, file_row_number
    FROM read_parquet($1::VARCHAR[]) WHERE file_row_number >= $2 LIMIT $3`
}

/** The values of `walkSqlOf`. */
export function walkValuesOf(path: string, row: number, limit: number): readonly BoundValue[] {
  return [bindTexts([path]), bindBigint(row), bindBigint(limit)]
}

function jsonOf(columns: readonly string[]): string {
  const fields = columns.map((name) => `'${name}': "${name}"`)
  return `CAST(to_json({${fields.join(', ')}}) AS VARCHAR)`
}
