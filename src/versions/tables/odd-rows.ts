import type { ColumnProfile } from './column-profile.js'
import { lineWord, shownText } from './table.js'
import type { MergedCells, TableOrder, TableRow } from './table.js'

/** As many rows at the end as a total and the notes below it may have. */
const lastMax = 5
const totalWords = 'итого|итог|общий итог|всего|total|grand total|sum'
const totals = new RegExp(`^(${totalWords})(?![\\p{L}\\p{N}_])`, 'iu')
/** Among the data, where a name may begin so: the word alone, or of what it is the total. */
const subtotals = new RegExp(`^(${totalWords}) *(:|$| (по|за|for|by|of) )`, 'iu')
/** As Excel writes it below a group, the other columns empty: `Москва Итог`. */
const groupTotals = /[ :](итого?|total):?$/iu
const notes = /^(\*|[¹²³]|\(?\d\) |источник|исполнител|примечани|составил|source:|notes?:)/iu

/**
 * Watches the rows of a table for those that may be no data: a row of units or of the numbers of
 * the columns below the names, a total, notes or another table at the end. `doubts` are to be
 * confirmed, once all rows were seen.
 */
export function watchRows(order: TableOrder) {
  const word = lineWord(order)
  let [first, afterGap, count]: [TableRow | null, LateRow | null, number] = [null, null, 0]
  const last: LateRow[] = []
  /** Totals above the last rows. */
  const early: TableRow[] = []
  /** `fewest` = the fewest values of a row so far. */
  let [earlyCount, fewest] = [0, Infinity]
  const leave = ({ row }: LateRow) => {
    const isTotal = isSubtotal(row)
    earlyCount += Number(isTotal)
    if (isTotal && early.length === 0) early.push(row)
  }
  return {
    /** `isBelowGap` = an empty line is above it. */
    see(row: TableRow, isBelowGap: boolean): void {
      if (order.format === 'NDJSON') return
      count += 1
      first ??= row
      const late = { row, count, fewest }
      fewest = Math.min(fewest, countOf(row))
      if (isBelowGap && count > 1) afterGap = late
      last.push(late)
      if (last.length > lastMax) last.splice(0, 1).forEach(leave)
    },
    doubts(profiles: readonly ColumnProfile[]): readonly string[] {
      if (!first || count < 2) return first ? doubtsOfNames(first, profiles) : []
      const { line, cells } = first
      const way = `remove it from the file, or use --header if it has values`
      const isNumbers = order.hasHeader === null && isNumbering(cells, profiles, line)
      const numbers = `${word} ${line} looks like the numbers of the columns; ${way}`
      const above = isNumbers ? [numbers] : doubtsOfNames(first, profiles)
      if (order.skipLastRows === 0) return above
      const middle =
        profiles.length < 2 ? [] : early.map((row) => earlyDoubt(row, earlyCount, word))
      if (order.skipLastRows !== null) return [...above, ...middle]
      const rows = [...(afterGap ? [{ ...afterGap, isBelowGap: true }] : []), ...last]
      const reasons = rows.flatMap((late) => (late.count > 1 && reasonOf(late, profiles)) || [])
      const [odd] = reasons.toSorted((a, b) => a.count - b.count)
      if (!odd) return [...above, ...middle]
      const least = count - odd.count + 1
      const option = '--skip-last-rows'
      const end = `leave it out with ${option} ${least}, or use ${option} 0 if it is data`
      return [...above, ...middle, `${word} ${odd.line} ${odd.why}; ${end}`]
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
  /** The fewest values of a row above. */
  readonly fewest: number
  readonly isBelowGap?: boolean
}

function doubtsOfNames({ line, cells }: TableRow, profiles: readonly ColumnProfile[]) {
  const words = cells.join(' ')
  if (!/\p{L}/u.test(words) || /\d/.test(words)) return []
  return profiles.flatMap((profile) => profile.doubtOf(line) ?? []).slice(0, 1)
}

function filledOf({ cells }: TableRow) {
  return cells.flatMap((cell, at) => (cell === null ? [] : [{ cell: cell.trim(), at }]))
}

/** Whether a row among the data looks like the total of a group, or of all. */
function isSubtotal(row: TableRow): boolean {
  const cell = row.cells.find((each) => each !== null)?.trim() ?? ''
  return subtotals.test(cell) || (row.cells.includes(null) && groupTotals.test(cell))
}

function countOf({ cells }: TableRow): number {
  return cells.reduce((count, cell) => count + Number(cell !== null), 0)
}

function earlyDoubt(row: TableRow, count: number, word: string): string {
  const more = count > 1 ? `, and ${count - 1} more like it` : ''
  const way = 'remove them from the file, or use --skip-last-rows 0 if all rows are data'
  const [{ cell } = { cell: '' }] = filledOf(row)
  return `${word} ${row.line} looks like a total: ${shownText(cell)}${more}; ${way}`
}

/** Why a row at the end may be no data; null if nothing tells so. */
function reasonOf({ row, count, fewest, isBelowGap }: LateRow, profiles: readonly ColumnProfile[]) {
  const { line } = row
  const filled = filledOf(row)
  const [{ cell, at } = { cell: '', at: 0 }] = filled
  if (profiles.length < 2) return null
  if (totals.test(cell) || isSubtotal(row)) {
    return { line, count, why: `looks like a total: ${shownText(cell)}` }
  }
  const isSentence = profiles.length > 2 && fewest > 1 && /\s/.test(cell)
  const isNote = filled.length === 1 && (isSentence || notes.test(cell))
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
