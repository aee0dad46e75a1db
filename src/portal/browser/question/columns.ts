import type { ShownType } from '../../../columns/column-types.js'
import type { Operator } from '../../../columns/operators.js'
import { words } from '../page-words.js'
import { wordFinder } from '../word-finder.js'
import type { DatasetColumn, DefinedMeasure } from './page-column.js'

/** Reads the columns of the dataset from the tables of the page. */
export function readColumns(): readonly DatasetColumn[] {
  const types = new Map(rowsOf('type-table').map((row) => [cellText(row, 0), row]))
  return columnRows().map((row) => {
    // The server wrote these attributes from its own types.
    const type = row.dataset['type'] as ShownType
    const textsOf = (attribute: string) =>
      JSON.parse(row.dataset[attribute] ?? '{}') as Readonly<Record<string, string>>
    const flags = row.dataset['flags']?.split(' ') ?? []
    const facts = types.get(type)
    return {
      name: row.dataset['name'] ?? '',
      label: row.dataset['label'] ?? '',
      section: row.dataset['section'] ?? '',
      type,
      unit: cellText(row, 2),
      description: cellText(row, 3),
      operators: codes(facts, 1) as readonly Operator[],
      measures: codes(facts, 2),
      groups: codes(facts, 3),
      levels: textsOf('levels'),
      levelLabels: textsOf('levelLabels'),
      isKey: flags.includes('key'),
      isQuantity: flags.includes('quantity'),
      isFloat: flags.includes('float'),
      isCode: flags.includes('codes'),
    }
  })
}

/** Reads the measures that the dataset defines. */
export function readMeasures(): readonly DefinedMeasure[] {
  return rowsOf('measure-table').map((row) => ({
    name: row.dataset['name'] ?? '',
    label: row.dataset['label'] ?? '',
    unit: cellText(row, 1),
    description: cellText(row, 2),
  }))
}

/** Filters the table of columns by every word in the search field, as the visitor types. */
export function searchColumns(): void {
  const box = document.getElementById('column-search')
  const input = box?.querySelector('input')
  const status = box?.querySelector('[role=status]')
  if (!box || !input || !status) return
  const rows = columnRows()
  const find = wordFinder(rows)
  const search = () => {
    status.textContent = words.found(find(input.value), rows.length)
  }
  box.hidden = false
  input.addEventListener('input', search)
  search()
}

/** The rows of the table of columns. */
export function columnRows(): readonly HTMLTableRowElement[] {
  return rowsOf('column-table')
}

function rowsOf(table: string): readonly HTMLTableRowElement[] {
  return [...document.querySelectorAll<HTMLTableRowElement>(`#${table} tbody tr`)]
}

function codes(row: HTMLTableRowElement | undefined, index: number): readonly string[] {
  return [...(row?.cells[index]?.querySelectorAll('code') ?? [])].map((code) => code.textContent)
}

function cellText(row: HTMLTableRowElement, index: number): string {
  return row.cells[index]?.textContent.trim() ?? ''
}
