import type { FileChecks } from '../../../versions/store/file-checks.js'
import { bindBigint, bindText } from '../bind.js'
import { searchesOf } from '../choice.js'
import type { Choice, Search } from '../choice.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { PlainPaths } from '../plain-paths.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { SqlParameters } from './condition.js'
import type { Scan } from './pieces.js'
import { readUnchanged } from './unchanged.js'
import { wordPattern } from './word-pattern.js'

/** What a search needs besides its question. */
export interface SearchContext {
  readonly checks: FileChecks | null
  readonly paths: PlainPaths
  readonly run: RunStatement
}

/** What one text costs to search, in nanoseconds of processor time (docs/performance.md). */
interface TextCosts {
  readonly inSearchFile: number
  /** A packed file holds a text once for many rows. */
  readonly inPackedFile: number
}

/** In a packed file, letters with several forms need a pattern. */
const lettered: TextCosts = { inSearchFile: 190, inPackedFile: 460 }
const plain: TextCosts = { inSearchFile: 80, inPackedFile: 80 }
const packedRow = 10
const statement = 3_000_000
/** A search file is read by row groups of so many texts. */
const textsAtOnce = 122_880

/**
 * Whether the search files of a question cost less to read than the searched columns in these files
 * do. Search files name files of the stored form only; a key leaves few rows to search.
 */
function isWorthSearch({ version, predicates, isByKey }: Choice, scan: Scan | Choice): boolean {
  const [first, last] = [scan.files[0]?.index ?? Infinity, scan.files.at(-1)?.index ?? 0]
  if (isByKey || first >= version.files.length) return false
  const share = (last - first + 1) / version.files.length
  let [searching, scanning] = [0, 0]
  for (const { file, words } of searchesOf(version, predicates)) {
    // DuckDB applies the cheapest condition first.
    const costs = words.some(isPlain) ? plain : lettered
    const texts = Math.max(file.texts * share, Math.min(file.texts, textsAtOnce))
    searching += statement + texts * costs.inSearchFile
    scanning += rowsOf(scan) * (packedRow + (file.texts / version.rows) * costs.inPackedFile)
  }
  return scanning > searching
}

/** Whether no letter of a word has several forms. */
function isPlain(word: string): boolean {
  return wordPattern(word) === null
}

/** If so many texts have the words, for each file, almost every file has one. */
const textsPerFile = 2
const textsMin = 1000

/**
 * The scan, or choice, without the files that hold no row with the searched words, if that is worth
 * it and the words are not frequent. The condition itself stays in the question.
 * @throws UnverifiedError for a search file that may differ from the published one
 */
export async function narrow<T extends Scan | Choice>(
  choice: Choice,
  scan: T,
  context: SearchContext,
): Promise<T> {
  if (!isWorthSearch(choice, scan)) return scan
  let files = scan.files
  for (const search of searchesOf(choice.version, choice.predicates)) {
    const [first, last] = [files[0], files.at(-1)]
    if (!first || !last) break
    const limit = Math.max(textsPerFile * files.length, textsMin)
    const compiled = compileSearch(search, first.index, last.index, limit, context.paths)
    const run = () => context.run(compiled)
    const [found = []] = await readUnchanged([search.file], context.checks, run)
    if (found.length >= limit) continue
    const holding = new Set(found.map(Number))
    files = files.filter(({ index }) => holding.has(index))
  }
  return { ...scan, files }
}

/** Selects the file, as an index, of each text with every word, until there are too many. */
function compileSearch(
  { file, words }: Search,
  first: number,
  last: number,
  limit: number,
  paths: PlainPaths,
): Statement {
  const parameters = new SqlParameters()
  const from = boundFilesSql(parameters.add(bindPaths([paths.of(file.path)])))
  const range = [
    `file >= ${parameters.add(bindBigint(first))}`,
    `file <= ${parameters.add(bindBigint(last))}`,
  ]
  const cheapFirst = [...words].sort((a, b) => Number(isPlain(b)) - Number(isPlain(a)))
  const has = cheapFirst.map((word) => `contains(text, ${parameters.add(bindText(word))})`)
  const where = [...range, ...has].join(' AND ')
  const most = parameters.add(bindBigint(limit))
  const sql = `SELECT file FROM ${from} WHERE ${where} LIMIT ${most}`
  return Object.freeze({ sql, values: parameters.values })
}

function rowsOf(scan: Scan | Choice): number {
  if ('range' in scan && scan.range) return scan.range.to - scan.range.from
  return scan.files.reduce((sum, { file }) => sum + file.rows, 0)
}
