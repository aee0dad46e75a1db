import { kindOf } from './cell-kinds.js'
import { TableError, badLines, badLinesMax, lineWord, shownText } from './table.js'
import type { TableOrder, TableRow } from './table.js'

const headerWay =
  'Correct the header, or use --no-header if the file has none, or --skip-lines if it is below.'

/** As many rows as show what is usual. */
const rowsMax = 200

/**
 * Finds the names of the columns in the first rows, if they are not known; values begin at
 * `dataLine`. What is not certain is a doubt: a title above the names, or values in their place.
 * @throws TableError, for a name that is missing or used twice too; case does not count
 */
export function findHeader(
  head: readonly TableRow[],
  known: readonly string[] | null,
  order: TableOrder,
) {
  if (known) return { ...whole, names: known, line: null, dataLine: 0, doubts: [] }
  const { hasHeader, file, format } = order
  const filled = head.filter((row) => countFilled(row) > 0 && !row.problem).slice(0, rowsMax)
  const bad = head.filter(({ problem }) => problem !== undefined)
  if (filled.length === 0 && bad.length > 0) throw badLines(order, bad, bad.length)
  // The cells of a title are at most half of the columns.
  const widest = Math.max(...filled.map(countFilled))
  const wide = filled.findIndex((row) => countFilled(row) * 2 > widest)
  const isTitled = hasHeader === null && wide + 1 < filled.length
  const [first, row, ...below] = [filled[0], ...filled.slice(isTitled ? wide : 0)]
  if (!first || !row) throw new TableError(`error: ${file} is empty`)
  const value = hasHeader === null ? valueAmong(row, below) : undefined
  const at = `${lineWord(order)} `
  const doubts: string[] = []
  if (row !== first) {
    const title = `looks like a title above the names: ${shownText(first.cells.join(' '))}`
    const way = `leave it out with --skip-lines ${row.line - 1}, or use --header if it has`
    doubts.push(`${at}${first.line} ${title}; ${way} the names`)
  }
  if (value !== undefined) {
    const way = 'use --no-header if there are no names, or --header if these are the names'
    doubts.push(`${at}${row.line} looks like values, not like names: ${shownText(value)}; ${way}`)
  }
  if (hasHeader === false || value !== undefined) {
    // Rows of a sheet end with their last value.
    const wholeRows = format === 'Excel' ? filled : [row]
    const width = Math.max(...wholeRows.map(({ cells }) => cells.length))
    const names = Array.from({ length: width }, (_, index) => `column${index + 1}`)
    return { ...whole, names, line: null, dataLine: hasHeader === false ? 0 : row.line, doubts }
  }
  const values = head.filter((each) => each.line > row.line && isFilled(each) && !each.problem)
  const { cells, ...part } = namedPart(row.cells, values, format === 'CSV')
  const isTwo = isHeading(row, values[0])
  const names = requireNames(cells, order, isTwo ? [row.line, row.line + 1] : [])
  return { ...part, names, line: row.line, dataLine: row.line + 1, doubts }
}

/** All columns have names. */
const whole = { start: 0, width: null as number | null, notes: [] as readonly string[] }

/**
 * The names without those of empty columns at both ends. A first column of values without a name,
 * as pandas writes it, is called `index`. `width` counts all
 * columns, `start` those left out before.
 */
function namedPart(names: TableRow['cells'], values: readonly TableRow[], isCsv: boolean) {
  const isLonger = ({ cells }: TableRow) => cells.length > names.length && cells.at(-1) === null
  const isEnded = isCsv && values.length > 0 && values.every(isLonger)
  const all = isEnded ? [...names, null] : names
  const isUnnamed = (at: number) => (all[at] ?? '').trim() === ''
  const isEmpty = (at: number) =>
    isUnnamed(at) && values.every(({ cells }) => (cells[at] ?? null) === null)
  let [start, end] = [0, all.length]
  while (end > 0 && isEmpty(end - 1)) end -= 1
  while (start < end && isEmpty(start)) start += 1
  const left = all.length - (end - start)
  const notes = left > 0 ? [`columns without a name and a value, left out: ${left}`] : []
  const cells = all.slice(start, end)
  const [first, ...others] = cells.map((cell) => (cell ?? '').trim())
  const hasIndex = first === '' && others.length > 0 && !others.includes('')
  if (!hasIndex || others.some((name) => name.toLowerCase() === 'index')) {
    return { cells, start, width: all.length, notes }
  }
  const named = `column ${start + 1} has no name and is called "index"`
  return { cells: ['index', ...others], start, width: all.length, notes: [...notes, named] }
}

/** The row with the cells of the columns that have names; a value in another is a problem. */
export function namedCells(
  row: TableRow,
  { names, start, width }: ReturnType<typeof findHeader>,
  isCsv: boolean,
): TableRow {
  const { cells, problem, isText } = row
  if (width === null || width === names.length || problem !== undefined || !isFilled(row)) {
    return row
  }
  if (isCsv && cells.length !== width) {
    return {
      ...row,
      problem: `${cells.length} field${cells.length === 1 ? '' : 's'} instead of ${width}`,
    }
  }
  const end = start + names.length
  const at = cells.findIndex((cell, at) => cell !== null && (at < start || at >= end))
  if (at < 0) {
    return {
      ...row,
      cells: cells.slice(start, end),
      ...(isText && { isText: isText.slice(start, end) }),
    }
  }
  const value = shownText(cells[at] ?? '')
  return { ...row, problem: `a value in column ${at + 1}, which has no name: ${value}` }
}

/** Whether the row below has the rest of the names: none is a value, and one name has none. */
function isHeading({ cells }: TableRow, below: TableRow | undefined): boolean {
  const lower = cells.map((_, at) => below?.cells[at] ?? null)
  const isName = (cell: string | null) =>
    cell === null || /^\d{4}$/.test(cell) || kindOf(cell.trim()) === 'text'
  const isAlone = cells.some((cell, at) => cell !== null && lower[at] === null)
  return isAlone && lower.every(isName) && lower.some((cell, at) => cell !== null && !cells[at])
}

/** False for a line without any character. */
export function isFilled({ cells }: TableRow): boolean {
  return cells.length > 1 || cells[0] !== null
}

function countFilled({ cells }: TableRow): number {
  return cells.filter((cell) => cell !== null).length
}

/**
 * A cell that is no name: a number, a date, or a text that is below it again. Years and codes of
 * four digits are names, unless all values below all of them look like them.
 */
function valueAmong({ cells }: TableRow, below: readonly TableRow[]): string | undefined {
  const isShort = (text: string) => /^\d{4}$/.test(text)
  const othersOf = (at: number) => below.flatMap((row) => row.cells[at] ?? [])
  const filled = cells.flatMap((cell, at) => (cell === null ? [] : [{ cell, at }]))
  const short = filled.filter(({ cell }) => isShort(cell))
  const value = filled.find(({ cell, at }) =>
    kindOf(cell.trim()) === 'text' ? othersOf(at).includes(cell) : !isShort(cell),
  )
  const isLike = short.every(({ at }) => othersOf(at).length > 0 && othersOf(at).every(isShort))
  return (value ?? (isLike ? short[0] : undefined))?.cell
}

/**
 * The names of the columns, without spaces around them; `headings` = they may be in these rows.
 * @throws TableError for a name that is missing or used twice; case does not count
 */
export function requireNames(
  cells: readonly (string | null)[],
  { file, format }: Pick<TableOrder, 'file' | 'format'>,
  headings: readonly number[] = [],
): readonly string[] {
  const names = cells.map((cell) => (cell ?? '').trim())
  const places = names.map((name, index) => [name.toLowerCase(), index + 1] as const)
  const firsts = new Map(places.toReversed())
  const problems = places.flatMap(([name, place]) => {
    if (name === '') return [`  column ${place} has no name`]
    const [first, own] = [firsts.get(name), names[place - 1]]
    return first === place ? [] : [`  column ${place} has the name of column ${first}: ${own}`]
  })
  if (problems.length === 0) return names
  const [what, way] =
    format === 'NDJSON'
      ? [`the keys of ${file} can't be names of columns`, 'Rename or remove keys.']
      : [`the first row of ${file} can't be its header`, headerWay]
  throw new TableError(
    `error: ${what}, so nothing was written:`,
    ...problems.slice(0, badLinesMax),
    headings.length > 0 ? `The heading has two rows (${headings.join(', ')}): write one.` : way,
  )
}
