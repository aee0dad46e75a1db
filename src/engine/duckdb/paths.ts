import { dirname } from 'node:path'
import { bindText, bindTexts } from './bind.js'
import type { BoundValue } from './bind.js'
import { literal } from '../sql/quote.js'

// Only this file puts a path into a statement: test/engine/paths.test.ts forbids it elsewhere.

/** DuckDB treats a path with one of these characters as a pattern, and may read other files. */
const patternLetters = /[*?[]/

/** True for a path that DuckDB treats as a pattern: `PlainPaths` reads it through a link. */
export function isPattern(path: string): boolean {
  return patternLetters.test(path)
}

/**
 * Binds files to read as one value.
 * @throws RangeError for a path that DuckDB treats as a pattern
 */
export function bindPaths(paths: readonly string[]): BoundValue {
  for (const path of paths) requirePlain(path)
  return { ...bindTexts(paths), paths }
}

/** SQL that reads the rows of the files bound to a parameter, with the columns of each file. */
export function boundFilesSql(parameter: `$${number}`): string {
  return `read_parquet(${parameter}, hive_partitioning = false, union_by_name = false)`
}

/**
 * Files to read, as an SQL list.
 * @throws RangeError for a path that DuckDB treats as a pattern
 */
export function pathsSql(paths: readonly string[]): string {
  for (const path of paths) requirePlain(path)
  return `[${paths.map(literal).join(', ')}]`
}

/** Binds a file to write: `COPY … TO` treats every character literally. */
export function bindTarget(path: string): BoundValue {
  return bindText(path)
}

/** A file to write, as SQL: `COPY … TO` treats every character literally. */
export function targetSql(path: string): string {
  return literal(path)
}

/**
 * Folders that statements may read and write below, as an SQL list; no character is special here.
 */
export function foldersSql(folders: readonly string[]): string {
  const closed = folders.map((folder) => (folder.endsWith('/') ? folder : `${folder}/`))
  return `[${closed.map(literal).join(', ')}]`
}

/** The folders that hold the files at these paths, each once. */
export function foldersOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => dirname(path)))]
}

/** An error is better than an answer from other files. */
function requirePlain(path: string): void {
  if (isPattern(path)) throw new RangeError('DuckDB would take a path to read for a pattern')
}
