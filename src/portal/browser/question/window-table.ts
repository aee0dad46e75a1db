import { element } from '../element.js'
import type { Row } from './exact-rows.js'
import type { PageColumn } from './page-column.js'
import { strip } from './strip.js'
import type { Span } from './strip.js'
import { bodyCell, headCell } from './table-cells.js'
import { columnsNear, measureTable, rowsNear } from './table-sizes.js'
import type { TableContent, TableSizes } from './table-sizes.js'

/** A row of the table: its first cell, and those of a span of columns. */
interface Line {
  readonly node: HTMLElement
  readonly show: (across: Span) => void
}

type MakeCell = (column: PageColumn, index: number) => HTMLElement

/**
 * Fills a table with the rows and columns that are near the visible part of its region only. Every
 * row has the same height, so a text that is too long is cut; columns keep their widths for as long
 * as the region keeps its own.
 */
export function fillWindow(
  region: HTMLElement,
  table: HTMLTableElement,
  content: TableContent,
): void {
  let width = 0
  let show: ((region: Element) => void) | null = null
  const resize = () => {
    const { offsetWidth, scrollLeft, scrollTop } = region
    // Before it is in the page, and in a hidden tab, it has no size.
    if (offsetWidth === 0 || offsetWidth === width) return
    width = offsetWidth
    show = startWindow(table, content)
    show(region)
    region.scrollTo(scrollLeft, scrollTop)
  }
  region.addEventListener('scroll', () => show?.(region))
  // An observer must not resize what it observes: that waits for the next frame.
  new ResizeObserver(() => requestAnimationFrame(resize)).observe(region)
}

function startWindow(table: HTMLTableElement, content: TableContent): (region: Element) => void {
  const { columns, rows, acts } = content
  table.classList.add('window')
  table.style.tableLayout = 'auto'
  table.style.width = ''
  const sizes = measureTable(table, content)
  const { edges, headHeight, rowHeight } = sizes
  table.style.tableLayout = 'fixed'
  table.style.width = px(edges.at(-1) ?? 0)
  table.ariaRowCount = String(rows.length + 1)
  table.ariaColCount = String(columns.length)
  const widths = widthLine(columns, sizes)
  const head = cellLine(columns, 0, (column) => headCell(column, acts))
  head.node.style.height = px(headHeight)
  const [above, below] = [gap('tr'), gap('tr')]
  const body = strip(rows, above, (row, index) => bodyLine(content, sizes, row, index + 1))
  table.append(widths.node, element('thead', {}, head.node), element('tbody', {}, above, below))
  return (region) => {
    const down = rowsNear(region, sizes, rows.length)
    const across = columnsNear(region, sizes)
    above.style.height = px(down.from * rowHeight)
    below.style.height = px((rows.length - down.to) * rowHeight)
    body.show(down)
    for (const line of [widths, head, ...body.pieces()]) line.show(across)
  }
}

/** The widths of the columns, and of the room for those that are not there. */
function widthLine(columns: readonly PageColumn[], { edges }: TableSizes): Line {
  const edge = (index: number) => edges[index] ?? 0
  const setWidth = (col: HTMLElement, from: number, to: number) => {
    col.style.width = px(edge(to) - edge(from))
  }
  const { node, left, right, show } = line('colgroup', 'col', columns, (_, index) => {
    const col = element('col')
    setWidth(col, index, index + 1)
    return col
  })
  return {
    node,
    show: (across) => {
      setWidth(left, 1, across.from)
      setWidth(right, across.to, columns.length)
      show(across)
    },
  }
}

function bodyLine(
  { columns, acts }: TableContent,
  { isCut }: TableSizes,
  row: Row,
  rowIndex: number,
): Line {
  return cellLine(columns, rowIndex, (column, index) => {
    const made = bodyCell(column, row.get(column.name), acts)
    if (isCut[index]) made.title ||= made.textContent
    return made
  })
}

function cellLine(columns: readonly PageColumn[], rowIndex: number, makeCell: MakeCell): Line {
  const made = line('tr', 'td', columns, (column, index) => {
    const cell = makeCell(column, index)
    cell.ariaColIndex = String(index + 1)
    return cell
  })
  made.node.ariaRowIndex = String(rowIndex + 1)
  return made
}

/** Creates a line whose first cell is always there, with room for those that are not. */
function line(
  name: 'tr' | 'colgroup',
  gapName: 'td' | 'col',
  columns: readonly PageColumn[],
  makeCell: MakeCell,
) {
  const [left, right] = [gap(gapName), gap(gapName)]
  const cells = strip(columns, left, (column, index) => ({ node: makeCell(column, index) }))
  return {
    node: element(name, {}, ...columns.slice(0, 1).map(makeCell), left, right),
    ...{ left, right },
    show: (across: Span) => {
      // An empty cell would be copied with the others.
      left.hidden = across.from === 1
      right.hidden = across.to === columns.length
      cells.show(across)
    },
  }
}

/** Takes the room of what is not there. */
function gap(name: 'tr' | 'td' | 'col'): HTMLElement {
  return element(name, { class: 'gap', 'aria-hidden': 'true' })
}

function px(length: number): string {
  return `${length}px`
}
