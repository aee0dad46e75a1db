import { separators } from './csv-table.js'
import type { TableRow } from './table.js'

/** Not found by themselves. */
const rare: readonly string[] = ['^', '~']
const tried: readonly string[] = [...separators, ...rare]
const gap = / {2,}/

/**
 * What has to be confirmed of a table of one column, if its name and the first values of it are
 * split alike: every line is in quotes, the separator is a rare one, or columns are as wide as
 * spaces make them. `separator` = what the owner says it is.
 */
export function oneColumnDoubts(
  name: string,
  rows: readonly TableRow[],
  separator: string | null,
): readonly string[] {
  const values = rows.flatMap(({ cells }) => cells[0] ?? [])
  const isAlike = (parts: (text: string) => number) =>
    values.length > 0 && parts(name) > 1 && values.every((value) => parts(value) === parts(name))
  const found = tried.find((each) => isAlike((text) => text.split(each).length))
  if (found !== undefined && (separator === null || separator === found)) {
    const shown = found === '\t' ? 'tab' : `"${found}"`
    const isRare = separator === null && rare.includes(found)
    const way = isRare ? `use --separator ${shown}` : 'write it without quotes around whole lines'
    const one = found === ',' ? 'tab' : ','
    const end = `${way}, or --separator ${one} if it is one`
    return [`the one column is split by ${shown} in each line; ${end}`]
  }
  const isWide = separator === null && isAlike((text) => text.trim().split(gap).length)
  if (!isWide) return []
  const way = 'write it as CSV, or use --separator , if it is one column'
  return [`the lines look like columns of a fixed width, with spaces between them; ${way}`]
}
