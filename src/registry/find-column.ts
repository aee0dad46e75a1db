import type { Column } from '../columns/column.js'
import { didYouMean, quoted } from '../text.js'
import type { Problem } from './problem.js'

/** The column of a shown name; where there is none, that is noted as a problem at `path`. */
export type FindColumn = (name: string, path: Problem['path']) => Column | undefined

/** Looks columns up for the registry's `key`, `history` and `demo`. */
export function columnFinder(columns: readonly Column[], problems: Problem[]): FindColumn {
  const byName = new Map(columns.map((column) => [column.name, column]))
  return (name, path) => {
    const column = byName.get(name)
    if (!column) {
      const near = didYouMean(name, byName.keys())
      problems.push({ path, message: `there is no column ${quoted(name)}.${near}` })
    }
    return column
  }
}
