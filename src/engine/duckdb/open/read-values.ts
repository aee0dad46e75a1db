import { typeText, withTypes } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import { quoted } from '../../../text.js'
import { FileError } from '../../../versions/opener.js'
import type { FileColumn } from '../../../versions/opener.js'
import { bindBigint } from '../bind.js'
import { readFailure } from '../duckdb-failure.js'
import { servedText } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { identifier } from '../../sql/quote.js'
import type { FileGroup } from './file-group.js'
import { unreadableReason } from './unreadable.js'

/** Columns of one statement: it is planned in a few milliseconds. */
const columnsMax = 48
const safeTypes = /^(BOOLEAN|U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|NULL)$/

interface Rows {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

/**
 * Reads every value that may be wrong in a sound file, as it will be served: texts in another
 * encoding, times beyond their calendar, JSON that can't be parsed.
 * @throws DuckDB's error
 */
export async function readValues(run: RunStatement, { files, columns }: FileGroup): Promise<void> {
  const paths = files.filter(({ rows }) => rows > 0).map(({ path }) => path)
  const doubtful = columns.filter(isDoubtful)
  if (paths.length === 0) return
  for (const slice of slices(doubtful)) await readSlice(run, paths, slice)
}

/**
 * Finds what in a file can't be read after a failure: the first column, and its first row. Null if
 * each column can be read by itself. `run` goes on after a failure.
 */
export async function findUnreadable(
  run: RunStatement,
  path: string,
  { columns, files }: FileGroup,
): Promise<FileError | null> {
  const failureOf: FailureOf = async (tried, rows) => {
    try {
      await readSlice(run, [path], tried, rows)
      return null
    } catch (cause) {
      // A slow disk, not the file.
      if (['INTERRUPT', null].includes(readFailure(cause).type)) throw cause
      return cause
    }
  }
  for (const slice of slices(columns)) {
    if (!(await failureOf(slice))) continue
    for (const column of slice) {
      const cause = await failureOf([column])
      if (!cause) continue
      const place = await findPlace((rows) => failureOf([column], rows), files[0]?.rows ?? 0)
      const reason = `${unreadableReason(cause, path)}; ${remedyFor(cause)}`
      return unreadableColumn(path, column, place, reason, cause)
    }
  }
  return null
}

type FailureOf = (columns: readonly FileColumn[], rows?: Rows) => Promise<unknown>

/** The refusal of a file for a column; `place` is its row as a part of the sentence, or empty. */
export function unreadableColumn(
  path: string,
  { name }: FileColumn,
  place: string,
  reason: string,
  cause?: unknown,
): FileError {
  const text = `has a column that can't be read, ${quoted(name)}${place}: ${reason}`
  return new FileError(path, text, cause)
}

export const wrongValue = 'correct the value, or write the column in another type'

function remedyFor(cause: unknown): string {
  const { text, type } = readFailure(cause)
  if (text.includes('UTF8')) return 'write its texts as UTF-8'
  if (text.includes('JSON')) return 'write its values as JSON, or the column as plain text'
  if (text.includes('encoding')) {
    return 'write the column in an encoding that all readers know, such as PLAIN'
  }
  return type === 'Conversion' || type === 'Out of Range'
    ? wrongValue
    : 'the file is damaged; copy or write it again'
}

/**
 * The first row that can't be read, by a binary search. Where the next one can't be either, it is
 * something that rows share, such as a dictionary.
 */
async function findPlace(
  failureOf: (rows: Rows) => Promise<unknown>,
  rows: number,
): Promise<string> {
  const fails = async (from: number, to: number) => (await failureOf({ from, to })) !== null
  let [low, high] = [0, rows]
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (await fails(low, middle)) high = middle
    else low = middle
  }
  if (!(await fails(low, high))) return ''
  const isShared = high < rows && (await fails(high, high + 1))
  if (!isShared) return `, row ${low} (counted from 0)`
  return low === 0 ? '' : `, from row ${low} on (counted from 0)`
}

async function readSlice(
  run: RunStatement,
  paths: readonly string[],
  columns: readonly FileColumn[],
  rows?: Rows,
): Promise<void> {
  const lengths = columns.map(({ name, type }) => lengthSql(identifier(name), type))
  const where = rows ? ' WHERE file_row_number >= $2 AND file_row_number < $3' : ''
  const sql = `SELECT ${lengths.join(', ')} FROM ${boundFilesSql('$1')}${where}`
  const range = rows ? [bindBigint(rows.from), bindBigint(rows.to)] : []
  await run({ sql, values: [bindPaths(paths), ...range] })
}

/** False for numbers of a fixed size, which are right whatever their bits are. */
export function isDoubtful({ type }: Pick<FileColumn, 'type'>): boolean {
  return !safeTypes.test(typeText(type))
}

/** The length of all texts of a column, as they will be served. */
export function lengthSql(value: string, type: DataType): string {
  // DuckDB decodes a value only for a result that depends on it.
  const text = typeText(type) === 'VARCHAR' ? value : servedText(duckdb, withTypes(type), value)
  return `sum(strlen(${text}))`
}

/** Columns in parts for one statement each. */
export function* slices<T>(columns: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < columns.length; from += columnsMax) {
    yield columns.slice(from, from + columnsMax)
  }
}
