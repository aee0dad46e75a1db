import { didYouMean, listed, quoted } from '../text.js'
import { TableError, badLines, badLinesMax } from '../versions/tables/table.js'
import type { TableRow } from '../versions/tables/table.js'
import type { JudgeCell } from './judge-key.js'
import type { ListFile } from './open-list.js'

/** The keys of a list, and where they are. */
export interface ListKeys {
  /** Its row with the names of the columns. */
  readonly header: TableRow
  /** The place of the keys in each row. */
  readonly place: number
  /** The cells of its longest row. */
  readonly width: number
  readonly lines: number
  /** Each once, in the order of the list. */
  readonly keys: ReadonlySet<string>
  readonly malformed: readonly MalformedLine[]
  /** Keys whose zeros are put back. */
  readonly restored: number
}

export interface MalformedLine {
  readonly line: number
  readonly text: string
  readonly withZero: string | null
}

/** A title may be above the names. */
const headerRowsMax = 50

/** False for a row without a value, which stays as it is. */
export function hasValues({ cells }: TableRow): boolean {
  return cells.length > 1 || (cells[0] ?? null) !== null
}

/**
 * Reads the keys of the column `name`, whose header is the first row that has this name.
 * @throws TableError for bad lines, or a list without this column
 */
export async function readKeys(list: ListFile, name: string, judge: JudgeCell): Promise<ListKeys> {
  const above: TableRow[] = []
  const bad: TableRow[] = []
  const [keys, malformed] = [new Set<string>(), [] as MalformedLine[]]
  let header: TableRow | undefined
  let [place, width, lines, badCount, restored] = [-1, 0, 0, 0, 0]
  for await (const rows of list.rows()) {
    for (const row of rows) {
      if (row.problem !== undefined && (badCount += 1) <= badLinesMax) bad.push(row)
      width = Math.max(width, row.cells.length)
      if (!hasValues(row)) continue
      if (!header) {
        place = row.cells.findIndex((cell) => cell?.trim() === name)
        if (place !== -1) header = row
        else if (above.push(row) > headerRowsMax) throw withoutColumn(list.file, name, above)
        continue
      }
      lines += 1
      const key = judge(row.cells[place])
      if (key.kind === 'key') keys.add(key.key)
      else malformed.push({ line: row.line, text: row.cells[place] ?? '', ...key })
      if (key.kind === 'key' && key.restored !== null) restored += 1
    }
  }
  if (badCount > 0) throw badLines({ file: list.file, format: list.format }, bad, badCount)
  if (!header) throw withoutColumn(list.file, name, above)
  if (header.cells.filter((cell) => cell?.trim() === name).length > 1) {
    throw new TableError(`error: ${list.file} has two columns ${quoted(name)}; rename one.`)
  }
  return { header, place, width, lines, keys, malformed, restored }
}

function withoutColumn(file: string, name: string, [first]: readonly TableRow[]): TableError {
  if (!first) return new TableError(`error: ${file} is empty.`)
  const names = first.cells.flatMap((cell) => (cell === null ? [] : [cell.trim()]))
  return new TableError(
    `error: ${file} has no column ${quoted(name)}.${didYouMean(name, names)}`,
    `Say with --column which one has the keys: ${listed(names.map(quoted))}.`,
  )
}
