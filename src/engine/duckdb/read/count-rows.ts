import type { Choice } from '../choice.js'
import { compileCount } from './compile.js'
import { narrow } from './narrow.js'
import type { SearchContext } from './narrow.js'
import { planCount } from './pieces.js'
import { filesUpTo } from './read-pieces.js'
import { readUnchanged } from './unchanged.js'

/**
 * Counts the rows of a choice.
 * @throws UnverifiedError, ChangedFileError for files that may differ from the published ones
 */
export async function countRows(choice: Choice, context: SearchContext): Promise<number> {
  const { checks, paths, run } = context
  let rows = 0
  for (const scan of planCount(await narrow(choice, context))) {
    const statement = compileCount(paths.scan(scan), choice.predicates)
    const found = await readUnchanged(filesUpTo(scan), checks, () => run(statement))
    rows += Number(found[0]?.[0])
  }
  return rows
}
