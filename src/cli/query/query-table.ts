import { plainText } from '../../plain-text.js'
import { cellText } from './row-cells.js'

interface Column {
  readonly name: string
  readonly type: string
}

/** A table as lines, and the columns that found no room in it. */
export interface QueryTable {
  readonly lines: readonly string[]
  readonly leftOut: readonly string[]
}

const cellLettersMax = 40
const gap = '  '
const absent = '—'

/**
 * Rows as an aligned table with every digit of every number, numbers to the right; long texts are
 * cut. Columns from the first on, as many as fit; `width` null = any.
 */
export function queryTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | null,
): QueryTable {
  const shown: string[][] = []
  const leftOut: string[] = []
  let taken = -gap.length
  for (const [at, { name, type }] of columns.entries()) {
    const isNumber = type === 'integer' || type === 'number'
    const texts = [plainText(name), ...rows.map((row) => shownText(row[at] ?? 'null', isNumber))]
    const letters = Math.max(...texts.map(lettersOf))
    taken += gap.length + letters
    if (at > 0 && (leftOut.length > 0 || (width !== null && taken > width))) leftOut.push(name)
    else shown.push(texts.map((text) => aligned(text, letters, isNumber)))
  }
  const lines = [null, ...rows].map((_, line) =>
    shown
      .map((texts) => texts[line] ?? '')
      .join(gap)
      .trimEnd(),
  )
  return { lines, leftOut }
}

function shownText(cell: string, isNumber: boolean): string {
  const text = plainText(cellText(cell) ?? absent)
  if (isNumber || lettersOf(text) <= cellLettersMax) return text
  return `${[...text].slice(0, cellLettersMax - 1).join('')}…`
}

function aligned(text: string, letters: number, isNumber: boolean): string {
  const fill = ' '.repeat(letters - lettersOf(text))
  return isNumber ? fill + text : text + fill
}

function lettersOf(text: string): number {
  return [...text].length
}
