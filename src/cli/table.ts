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
