import type { ShownType } from '../../../columns/column-types.js'
import type { Operator } from '../../../columns/operators.js'
import { words } from '../page-words.js'
import { wordFinder } from '../word-finder.js'
import type { PageColumn } from './page-column.js'

/** The columns of the dataset, as the page's own tables have them. */
export function readColumns(): readonly PageColumn[] {
  const operators = new Map(
    rowsOf('type-table').map((row) => [
      cellText(row, 0),
      [...row.querySelectorAll('td code')].map((code) => code.textContent as Operator),
    ]),
  )
  return rowsOf('column-table').map((row) => {
    // The server wrote the attributes, of its own types.
    const type = row.dataset['type'] as ShownType
    return {
      name: row.dataset['name'] ?? '',
      type,
      unit: cellText(row, 2),
      description: cellText(row, 3),
      operators: operators.get(type) ?? [],
    }
  })
}

/** Narrows the table of columns to those that hold every word, as they are typed. */
export function searchColumns(): void {
  const box = document.getElementById('column-search')
  const input = box?.querySelector('input')
  const status = box?.querySelector('[role=status]')
  if (!box || !input || !status) return
  const rows = rowsOf('column-table')
  const find = wordFinder(rows)
  const search = () => {
    status.textContent = words.found(find(input.value), rows.length)
  }
  box.hidden = false
  input.addEventListener('input', search)
  search()
}

function rowsOf(table: string): readonly HTMLTableRowElement[] {
  return [...document.querySelectorAll<HTMLTableRowElement>(`#${table} tbody tr`)]
}

function cellText(row: HTMLTableRowElement, index: number): string {
  return row.cells[index]?.textContent.trim() ?? ''
}
