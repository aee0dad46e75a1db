import type { ColumnProfile } from './column-profile.js'
import { lineWord, shownText } from './table.js'
import type { MergedCells, TableOrder, TableRow } from './table.js'

/** As many rows at the end as a total and the notes below it may have. */
const lastMax = 5
const totals = /^(итого|всего|total|grand total|sum)(?![\p{L}\p{N}_])/iu
const notes = /^(источник|исполнител|примечани|составил|source:|notes?:)/iu

/**
 * Watches the rows of a table for those that may be no data: a row of units or of the numbers of
 * the columns below the names, a total, notes or another table at the end. `doubts` are to be
 * confirmed, once all rows were seen.
 */
export function watchRows(order: TableOrder) {
  const word = lineWord(order)
  let [first, afterGap, count]: [TableRow | null, LateRow | null, number] = [null, null, 0]
  const last: LateRow[] = []
  return {
    /** `isBelowGap` = an empty line is above it. */
    see(row: TableRow, isBelowGap: boolean): void {
      if (order.format === 'NDJSON') return
      count += 1
      first ??= row
      const late = { row, count }
      if (isBelowGap && count > 1) afterGap = late
      last.push(late)
      if (last.length > lastMax) last.shift()
    },
    doubts(profiles: readonly ColumnProfile[]): readonly string[] {
      if (!first || count < 2) return first ? doubtsOfNames(first, profiles) : []
      const { line, cells } = first
      const way = `remove it from the file, or use --header if it has values`
      const isNumbers = order.hasHeader === null && isNumbering(cells, profiles, line)
      const numbers = `${word} ${line} looks like the numbers of the columns; ${way}`
      const above = isNumbers ? [numbers] : doubtsOfNames(first, profiles)
      if (order.skipLastRows !== null) return above
      const rows = [...(afterGap ? [{ ...afterGap, isBelowGap: true }] : []), ...last]
      const reasons = rows.flatMap((late) => reasonOf(late, profiles) ?? [])
      const [odd] = reasons.toSorted((a, b) => a.count - b.count)
      if (!odd || odd.count === 1) return above
      const least = count - odd.count + 1
      const option = '--skip-last-rows'
      const end = `leave it out with ${option} ${least}, or use ${option} 0 if it is data`
      return [...above, `${word} ${odd.line} ${odd.why}; ${end}`]
    },
  }
}

/** The doubt about merged cells among these rows. */
export function mergedDoubts(
  merged: readonly MergedCells[],
  firstRow: number,
  lastRow: number,
): readonly string[] {
  const among = merged.filter((each) => each.lastRow >= firstRow && each.firstRow <= lastRow)
  if (among.length === 0) return []
  const shown = among.slice(0, lastMax).map(({ at }) => at)
  const more = among.length > lastMax ? `, and ${among.length - lastMax} more` : ''
  const way = 'undo the merges and fill the cells, or save the sheet as CSV if the others are empty'
  return [`of merged cells only the first has a value: ${shown.join(', ')}${more}; ${way}`]
}

interface LateRow {
  readonly row: TableRow
  /** Its number among the rows with values. */
  readonly count: number
  readonly isBelowGap?: boolean
}

function doubtsOfNames({ line, cells }: TableRow, profiles: readonly ColumnProfile[]) {
  const words = cells.join(' ')
  if (!/\p{L}/u.test(words) || /\d/.test(words)) return []
  return profiles.flatMap((profile) => profile.doubtOf(line) ?? []).slice(0, 1)
}

/** Why a row at the end may be no data; null if nothing tells so. */
function reasonOf({ row, count, isBelowGap }: LateRow, profiles: readonly ColumnProfile[]) {
  const { line, cells } = row
  const filled = cells.flatMap((cell, at) => (cell === null ? [] : [{ cell: cell.trim(), at }]))
  const [{ cell, at } = { cell: '', at: 0 }] = filled
  if (profiles.length < 2) return null
  if (totals.test(cell)) return { line, count, why: `looks like a total: ${shownText(cell)}` }
  const isNote = filled.length === 1 && notes.test(cell)
  const isSparse = filled.length * 2 <= profiles.length
  const keeps = (profile: ColumnProfile | undefined) => (profile?.typeAbove(line) ?? null) !== null
  const isOdd = isBelowGap ? profiles.some(keeps) : isSparse && keeps(profiles[at])
  if (!isNote && !isOdd) return null
  return { line, count, why: `may be a note or another table, not values: ${shownText(cell)}` }
}

/** `1 2 3 …`, in Russian forms after letters: `А Б 1 2`; a short one only above other texts. */
function isNumbering(
  cells: readonly (string | null)[],
  profiles: readonly ColumnProfile[],
  line: number,
): boolean {
  const letters = cells.findIndex((cell, at) => cell !== 'АБВГД'[at])
  const isCounted = (from: number) =>
    cells.slice(letters).every((cell, at) => cell === String(at + from))
  if (letters < 0 || cells.length < 2 || cells.length !== profiles.length) return false
  if (letters > 0) return isCounted(1) || isCounted(letters + 1)
  const isAlone = profiles.some((profile) => profile.isOnlyInteger(line))
  return isCounted(1) && (isAlone || cells.length >= 5)
}
