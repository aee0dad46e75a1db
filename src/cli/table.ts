import { plainText } from '../plain-text.js'
import type { Output } from './parts.js'
import { count } from './print.js'

type TableCell = string | number | null

/** A column of texts that is not yet padded. */
interface TextColumn {
  readonly isNumber: boolean
  readonly texts: readonly string[]
}

const columnGap = '  '
const absent = '—'
const cellLettersMax = 40

/**
 * A table as lines, titles first. On a terminal: aligned columns, numbers to the right, their
 * thousands set apart. Elsewhere: cells between tabs, plain numbers, an absent value empty.
 */
export function tableLines(
  output: Output,
  titles: readonly string[],
  rows: readonly (readonly TableCell[])[],
): readonly string[] {
  if (!output.isTTY) {
    return [titles, ...rows].map((row) => row.map((cell) => cell ?? '').join('\t'))
  }
  const textOf = (cell: TableCell) =>
    typeof cell === 'number' ? count(output, cell) : (cell ?? absent)
  const columns = titles.map((title, at) => ({
    isNumber: rows.some((row) => typeof row[at] === 'number'),
    texts: [title, ...rows.map((row) => textOf(row[at] ?? null))],
  }))
  return alignedLines(columns)
}

/** A table as lines, and the columns that did not fit. */
export interface FittedTable {
  readonly lines: readonly string[]
  readonly leftOut: readonly string[]
}

/**
 * Rows of texts as an aligned table with every digit of every number, numbers to the right, long
 * texts cut. Shows the first columns, as many as fit into `width` letters; null = all of them.
 */
export function fittedTable(
  columns: readonly { readonly name: string; readonly isNumber: boolean }[],
  rows: readonly (readonly (string | null)[])[],
  width: number | null,
): FittedTable {
  const shown: TextColumn[] = []
  let taken = -columnGap.length
  for (const [at, { name, isNumber }] of columns.entries()) {
    const cells = rows.map((row) => cutText(row[at] ?? absent, isNumber))
    const texts = [plainText(name), ...cells]
    taken += columnGap.length + widthOf(texts)
    if (at > 0 && width !== null && taken > width) break
    shown.push({ isNumber, texts })
  }
  const leftOut = columns.slice(shown.length).map(({ name }) => name)
  return { lines: alignedLines(shown), leftOut }
}

function cutText(cell: string, isNumber: boolean): string {
  const text = plainText(cell)
  if (isNumber || lettersOf(text) <= cellLettersMax) return text
  return `${[...text].slice(0, cellLettersMax - 1).join('')}…`
}

function alignedLines(columns: readonly TextColumn[]): readonly string[] {
  const padded = columns.map(({ isNumber, texts }) => {
    const width = widthOf(texts)
    return texts.map((text) => {
      const fill = ' '.repeat(width - lettersOf(text))
      return isNumber ? fill + text : text + fill
    })
  })
  const [first = []] = padded
  return first.map((_, line) =>
    padded
      .map((texts) => texts[line] ?? '')
      .join(columnGap)
      .trimEnd(),
  )
}

function widthOf(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, lettersOf(text)), 0)
}

function lettersOf(text: string): number {
  return [...text].length
}
