import type { ShownType } from '../../../columns/column-types.js'
import type { Operator } from '../../../columns/operators.js'
import { words } from '../page-words.js'
import { wordFinder } from '../word-finder.js'
import type { PageColumn } from './page-column.js'

/** Reads the columns of the dataset from the tables of the page. */
export function readColumns(): readonly PageColumn[] {
  const operators = new Map(
    rowsOf('type-table').map((row) => [
      cellText(row, 0),
      [...row.querySelectorAll('td code')].map((code) => code.textContent as Operator),
    ]),
  )
  return rowsOf('column-table').map((row) => {
    // The server wrote these attributes from its own types.
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

/** Filters the table of columns by every word in the search field, as the visitor types. */
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
