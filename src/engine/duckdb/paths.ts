import { bindText, bindTexts } from './bind.js'
import type { BoundValue } from './bind.js'
import { literal } from './sql.js'

// The one way from a path to a statement: test/engine/paths.test.ts forbids any other.

/** A reader of DuckDB takes a path with one of these for a pattern, and may read other files. */
const patternLetters = /[*?[]/

/** True for a path that DuckDB's readers would take for a pattern: `PlainPaths` gives it another. */
export function isPattern(path: string): boolean {
  return patternLetters.test(path)
}

/**
 * Files to read, as a value to bind.
 * @throws RangeError for a path that would be taken for a pattern
 */
export function bindPaths(paths: readonly string[]): BoundValue {
  for (const path of paths) requirePlain(path)
  return bindTexts(paths)
}

/**
 * Files to read, as an SQL list.
 * @throws RangeError for a path that would be taken for a pattern
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

/** Folders that statements may read and write below, as an SQL list: no letter is special there. */
export function foldersSql(folders: readonly string[]): string {
  const closed = folders.map((folder) => (folder.endsWith('/') ? folder : `${folder}/`))
  return `[${closed.map(literal).join(', ')}]`
}

/** Better no answer than one from other files. */
function requirePlain(path: string): void {
  if (isPattern(path)) throw new RangeError('a path was to be read that DuckDB takes for a pattern')
}
