import { element } from '../element.js'
import type { Cell, Row } from './exact-rows.js'
import { namedText } from './page-column.js'
import type { PageColumn } from './page-column.js'
import type { Span } from './strip.js'
import type { TableActs } from './table-acts.js'
import { bodyCell, headCell } from './table-cells.js'

/** The columns and rows of an answer. */
export interface TableContent {
  readonly columns: readonly PageColumn[]
  readonly rows: readonly Row[]
  /** What clicks do. */
  readonly acts: TableActs
}

/** The sizes of a table, in pixels. */
export interface TableSizes {
  readonly headHeight: number
  readonly rowHeight: number
  /** Where each column begins, and where the last one ends. */
  readonly edges: readonly number[]
  /** Of each column: whether it has a text that is longer than the column is wide. */
  readonly isCut: readonly boolean[]
}

/** The longest values of each column are measured. */
const sampleRows = 3

/** What is kept beyond the visible part, in rows and in pixels. */
const beyond = { rows: 10, px: 400 } as const

/** Measures a table by its head and its longest values. They are in it for that long only. */
export function measureTable(table: HTMLTableElement, content: TableContent): TableSizes {
  const { columns, rows, acts } = content
  const samples = columns.map((column) => longest(column, rows))
  const head = element('tr', {}, ...columns.map((column) => headCell(column, acts)))
  const lines = Array.from({ length: sampleRows }, (_, line) =>
    element('tr', {}, ...columns.map((column, index) => bodyCell(column, samples[index]?.[line]))),
  )
  table.replaceChildren(element('thead', {}, head), element('tbody', {}, ...lines))
  const edges = [0]
  for (const cell of head.cells) edges.push((edges.at(-1) ?? 0) + widthOf(cell))
  const [first = head, second = head] = lines
  const sizes = {
    headHeight: head.getBoundingClientRect().height,
    rowHeight: second.getBoundingClientRect().top - first.getBoundingClientRect().top,
    edges,
    isCut: columns.map((_, index) => lines.some(({ cells }) => isTooNarrow(cells[index]))),
  }
  table.replaceChildren()
  return sizes
}

/** The rows that are near the visible part of the region that scrolls. */
export function rowsNear(region: Element, { rowHeight }: TableSizes, count: number): Span {
  const { scrollTop, clientHeight } = region
  return {
    from: Math.max(0, Math.floor(scrollTop / rowHeight) - beyond.rows),
    to: Math.min(count, Math.ceil((scrollTop + clientHeight) / rowHeight) + beyond.rows),
  }
}

/** The columns that are near it. The first one sticks, so it never belongs to them. */
export function columnsNear(region: Element, { edges }: TableSizes): Span {
  const left = region.scrollLeft - beyond.px
  const right = region.scrollLeft + region.clientWidth + beyond.px
  const count = edges.length - 1
  const from = edges.findIndex((_, index) => index > 0 && (edges[index + 1] ?? Infinity) > left)
  const to = edges.findIndex((edge) => edge >= right)
  return { from: Math.min(from, count), to: to === -1 ? count : to }
}

function longest(column: PageColumn, rows: readonly Row[]): readonly (Cell | undefined)[] {
  const kept: (Cell | undefined)[] = []
  const lengthOf = (cell: Cell | undefined) => (cell ? namedText(column, cell.text).length : 0)
  for (const cell of rows.map((row) => row.get(column.name))) {
    const place = kept.findIndex((each) => lengthOf(cell) > lengthOf(each))
    if (place !== -1) kept.splice(place, 0, cell)
    else if (kept.length < sampleRows) kept.push(cell)
    kept.length = Math.min(kept.length, sampleRows)
  }
  return kept
}

/** Rounded up, so that a text which fits is not cut. */
function widthOf(cell: Element): number {
  return Math.ceil(cell.getBoundingClientRect().width)
}

function isTooNarrow(cell: Element | undefined): boolean {
  return cell !== undefined && cell.scrollWidth > cell.clientWidth
}
