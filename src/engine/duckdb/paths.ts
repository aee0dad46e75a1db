import { dirname } from 'node:path'
import { bindText, bindTexts } from './bind.js'
import type { BoundValue } from './bind.js'
import { literal } from './sql.js'

// The only code that puts a path into a statement: test/engine/paths.test.ts forbids any other.

/** DuckDB takes a path with one of these letters for a pattern, and may read other files. */
const patternLetters = /[*?[]/

/** True for a path that DuckDB would take for a pattern: `PlainPaths` reads it through a link. */
export function isPattern(path: string): boolean {
  return patternLetters.test(path)
}

/**
 * Files to read, as a value to bind.
 * @throws RangeError for a path that DuckDB would take for a pattern
 */
export function bindPaths(paths: readonly string[]): BoundValue {
  for (const path of paths) requirePlain(path)
  return bindTexts(paths)
}

/** SQL that reads the rows of the files bound to a parameter, with the columns that each holds. */
export function boundFilesSql(parameter: `$${number}`): string {
  return `read_parquet(${parameter}, hive_partitioning = false, union_by_name = false)`
}

/**
 * Files to read, as an SQL list.
 * @throws RangeError for a path that DuckDB would take for a pattern
 */
export function pathsSql(paths: readonly string[]): string {
  for (const path of paths) requirePlain(path)
  return `[${paths.map(literal).join(', ')}]`
}

/** A file to write, as a value to bind: `COPY … TO` takes every letter as it is. */
export function bindTarget(path: string): BoundValue {
  return bindText(path)
}

/** A file to write, as SQL: `COPY … TO` takes every letter as it is. */
export function targetSql(path: string): string {
  return literal(path)
}

/** Folders that statements may read and write below, as an SQL list; no letter is special there. */
export function foldersSql(folders: readonly string[]): string {
  const closed = folders.map((folder) => (folder.endsWith('/') ? folder : `${folder}/`))
  return `[${closed.map(literal).join(', ')}]`
}

/** The folders that hold the files at these paths, each once. */
export function foldersOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => dirname(path)))]
}

/** No answer is better than one from other files. */
function requirePlain(path: string): void {
  if (isPattern(path)) throw new RangeError('DuckDB would take a path to read for a pattern')
}
