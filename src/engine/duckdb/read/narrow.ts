import { rangeRows } from '../../../versions/forms/form.js'
import type { FileChecks } from '../../../versions/store/file-checks.js'
import { bindBigint, bindText } from '../bind.js'
import { searchesOf } from '../choice.js'
import type { Choice, ChosenFile, RowRange, Search } from '../choice.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { PlainPaths } from '../plain-paths.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { SqlParameters } from './condition.js'
import { readUnchanged } from './unchanged.js'
import { wordPattern } from '../../sql/word-pattern.js'

/** What a search needs besides its question. */
export interface SearchContext {
  readonly checks: FileChecks | null
  readonly paths: PlainPaths
  readonly run: RunStatement
}

/** Each range is a scan of its own: with more of them, reading all rows costs less. */
const rangesMax = 400
/** Nor are most ranges worth leaving out the others. */
const shareMax = 0.5

/**
 * The choice without the ranges of rows that lack a searched word, as the search files say. The
 * same choice where words are frequent, or nothing is searched. The conditions stay.
 * @throws UnverifiedError for a search file that may differ from the published one
 */
export async function narrow(choice: Choice, context: SearchContext): Promise<Choice> {
  const all = choice.files.reduce((sum, { file }) => sum + Math.ceil(file.rows / rangeRows), 0)
  const limit = Math.min(rangesMax, Math.floor(all * shareMax))
  let narrowed = choice
  for (const search of searchesOf(choice)) {
    const compiled = compileSearch(search, limit, context.paths)
    const run = () => context.run(compiled)
    const [files = [], ranges = []] = await readUnchanged([search.file], context.checks, run)
    if (files.length > limit) continue
    const found = new Map<number, Set<number>>()
    for (const [at, file] of files.entries()) {
      const ofFile = found.get(Number(file)) ?? new Set()
      found.set(Number(file), ofFile.add(Number(ranges[at])))
    }
    narrowed = { ...narrowed, files: narrowed.files.flatMap((each) => within(each, found)) }
  }
  return narrowed
}

/** A file with the ranges of it that were found, besides those that were left before. */
function within(
  chosen: ChosenFile,
  found: ReadonlyMap<number, ReadonlySet<number>>,
): readonly ChosenFile[] {
  const own = found.get(chosen.index) ?? new Set()
  const isLeft = ({ from }: RowRange) =>
    !chosen.ranges || chosen.ranges.some((range) => range.from <= from && from < range.to)
  const ranges: { from: number; to: number }[] = []
  for (const number of [...own].sort((a, b) => a - b)) {
    const from = number * rangeRows
    const range = { from, to: Math.min(from + rangeRows, chosen.file.rows) }
    const last = ranges.at(-1)
    if (!isLeft(range)) continue
    if (last?.to === from) last.to = range.to
    else ranges.push(range)
  }
  return ranges.length === 0 ? [] : [{ ...chosen, ranges }]
}

/** Selects the ranges of all texts with every word, until there are too many. */
function compileSearch({ file, words }: Search, limit: number, paths: PlainPaths): Statement {
  const parameters = new SqlParameters()
  const from = boundFilesSql(parameters.add(bindPaths([paths.of(file.path)])))
  // DuckDB applies the first condition first; a word without letters of several forms is cheap.
  const isPlain = (word: string) => Number(wordPattern(word) === null)
  const cheapFirst = [...words].sort((a, b) => isPlain(b) - isPlain(a))
  const has = cheapFirst.map((word) => `contains(text, ${parameters.add(bindText(word))})`)
  const most = parameters.add(bindBigint(limit + 1))
  const sql = `SELECT DISTINCT file, range FROM ${from} WHERE ${has.join(' AND ')} LIMIT ${most}`
  return Object.freeze({ sql, values: parameters.values })
}
