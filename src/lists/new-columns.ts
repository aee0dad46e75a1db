import type { ShownType } from '../columns/column-types.js'
import { badRequest } from '../errors.js'
import { textOfJson } from '../row-texts.js'
import { sheetMax } from '../sheet/sheet-text.js'
import { quoted } from '../text.js'
import type { Answers } from './answers.js'
import type { ListQuestion } from './ask-keys.js'
import type { ListFile } from './open-list.js'
import type { ListKeys } from './read-keys.js'

export const statusName = '_status'

/** What stands behind the columns of a list, before the status. */
export interface NewColumns {
  readonly names: readonly string[]
  readonly types: readonly ShownType[]
  /** The cells of each line of a key, as JSON texts. */
  readonly linesOf: (key: string) => readonly (readonly string[])[]
  /** Rows that no line has: others of one key, or of one key and value of the history column. */
  readonly spare: number
}

interface WantedColumn {
  readonly name: string
  readonly type: ShownType
}

/**
 * The columns with what was found: `newest` has one line for a key, `all` one for each row, and
 * `wide` a column for each value of the history column, the oldest first: `2110 2023`, `2110 2024`.
 */
export function newColumns(
  { match, select }: Pick<ListQuestion, 'match' | 'select'>,
  wanted: readonly WantedColumn[],
  history: string | null,
  keys: readonly string[],
  answers: Answers,
): NewColumns {
  const places = wanted.map(({ name }) => select.indexOf(name))
  const cellsIn = (row: readonly string[]) => places.map((place) => row[place] ?? 'null')
  if (match !== 'wide') {
    const linesOf = (key: string) => answers.rowsOf(key).map(cellsIn)
    const [names, types] = [wanted.map(({ name }) => name), wanted.map(({ type }) => type)]
    if (match === 'all') return { names, types, linesOf, spare: 0 }
    const spare = keys.reduce((sum, key) => sum + Math.max(0, answers.count(key) - 1), 0)
    return { names, types, linesOf: (key) => linesOf(key).slice(0, 1), spare }
  }
  const place = select.indexOf(history ?? '')
  const periodOf = (row: readonly string[]) => textOfJson(row[place] ?? '')
  const found = new Set<string>()
  let spare = 0
  for (const key of keys) {
    const own = answers.rowsOf(key).map(periodOf)
    spare += own.length - new Set(own).size
    for (const period of own) found.add(period)
  }
  const periods = [...found].sort(comparePeriods)
  return {
    names: wanted.flatMap(({ name }) => periods.map((period) => `${name} ${period}`)),
    types: wanted.flatMap(({ type }) => periods.map(() => type)),
    linesOf: (key) => {
      const rows = answers.rowsOf(key)
      if (rows.length === 0) return []
      const byPeriod = new Map(rows.toReversed().map((row) => [periodOf(row), cellsIn(row)]))
      return [wanted.flatMap((_, at) => periods.map((each) => byPeriod.get(each)?.[at] ?? 'null'))]
    },
    spare,
  }
}

/** Whole numbers by their size, other values as texts, which dates are ordered by. */
export function comparePeriods(left: string, right: string): number {
  const areNumbers = [left, right].every((each) => /^-?\d+$/.test(each))
  const [one, other] = areNumbers ? [BigInt(left), BigInt(right)] : [left, right]
  return one < other ? -1 : Number(one > other)
}

/**
 * The names of new columns beside those of a list: one that the list has already begins with the
 * name of the dataset.
 * @throws bad_request if the list has that too, or its sheet has no place for so many
 */
export function freeNames(
  { format }: Pick<ListFile, 'format'>,
  { header, width }: Pick<ListKeys, 'header' | 'width'>,
  names: readonly string[],
  dataset: string,
): readonly string[] {
  if (format === 'Excel' && width + names.length > sheetMax.columns) {
    throw badRequest(
      `XLSX holds ${sheetMax.columns} columns, and the list would have ${width + names.length}: ` +
        'select fewer, or save the list as CSV.',
    )
  }
  const taken = new Set(header.cells.map((cell) => cell?.trim() ?? ''))
  return names.map((name) => {
    if (!taken.has(name)) return name
    const other = `${dataset}.${name}`
    if (!taken.has(other)) return other
    throw badRequest(`The list has the columns ${quoted(name)} and ${quoted(other)}: rename one.`)
  })
}
