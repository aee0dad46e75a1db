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

/**
 * Fills a table with the rows and columns that are near the visible part of its region only. Every
 * row has the same height, so a text that is too long is cut; columns keep their widths.
 */
export function fillWindow(
  region: HTMLElement,
  table: HTMLTableElement,
  content: TableContent,
): void {
  let show: ((region: Element) => void) | null = null
  const draw = () => {
    // Before it is in the page, and in a hidden tab, it has no size.
    if (region.clientWidth === 0) return
    show ??= startWindow(table, content)
    show(region)
  }
  region.addEventListener('scroll', draw)
  new ResizeObserver(draw).observe(region)
}

function startWindow(table: HTMLTableElement, content: TableContent): (region: Element) => void {
  const { columns, rows } = content
  table.classList.add('window')
  const sizes = measureTable(table, content)
  const { edges, headHeight, rowHeight } = sizes
  table.style.tableLayout = 'fixed'
  table.style.width = px(edges.at(-1) ?? 0)
  table.ariaRowCount = String(rows.length + 1)
  table.ariaColCount = String(columns.length)
  const widths = widthLine(columns, sizes)
  const head = cellLine(columns, 0, headCell)
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
  const col = (index: number, to = index + 1) => {
    const node = element('col')
    node.style.width = px(edge(to) - edge(index))
    return node
  }
  const [left, right] = [element('col'), element('col')]
  const cols = strip(columns, left, (_, index) => ({ node: col(index) }))
  return {
    node: element('colgroup', {}, col(0), left, right),
    show: (across) => {
      left.style.width = px(edge(across.from) - edge(1))
      right.style.width = px(edge(columns.length) - edge(across.to))
      cols.show(across)
    },
  }
}

function bodyLine(
  { columns }: TableContent,
  { isCut }: TableSizes,
  row: Row,
  rowIndex: number,
): Line {
  return cellLine(columns, rowIndex, (column, index) => {
    const made = bodyCell(column, row.get(column.name))
    if (isCut[index]) made.title ||= made.textContent
    return made
  })
}

function cellLine(
  columns: readonly PageColumn[],
  rowIndex: number,
  makeCell: (column: PageColumn, index: number) => HTMLElement,
): Line {
  const numbered = (column: PageColumn, index: number) => {
    const made = makeCell(column, index)
    made.ariaColIndex = String(index + 1)
    return made
  }
  const [left, right] = [gap('td'), gap('td')]
  const node = element('tr', {}, ...columns.slice(0, 1).map(numbered), left, right)
  node.ariaRowIndex = String(rowIndex + 1)
  const cells = strip(columns, left, (column, index) => ({ node: numbered(column, index) }))
  return { node, show: cells.show }
}

/** Takes the room of what is not there. */
function gap<Name extends 'tr' | 'td'>(name: Name): HTMLElementTagNameMap[Name] {
  return element(name, { class: 'gap', 'aria-hidden': 'true' })
}

function px(length: number): string {
  return `${length}px`
}
