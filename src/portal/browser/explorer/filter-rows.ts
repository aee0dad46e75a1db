import type { Operator } from '../../../columns/operators.js'
import { button, element, sayChanged } from '../element.js'
import { words } from '../page-words.js'
import type { PageColumn } from './page-column.js'
import type { Filter } from './question-form.js'
import { valueInput, valuesIn } from './value-input.js'

export interface FilterEditor {
  readonly node: HTMLElement
  readonly read: () => readonly Filter[]
}

const hintLettersMax = 60

/** An editable list of filters: column, operator, value. */
export function filterEditor(
  columns: readonly PageColumn[],
  filters: readonly Filter[],
): FilterEditor {
  const list = element('ul', { class: 'filters' })
  const rows = new Set<FilterRow>()
  const add = (filter: Filter | null): FilterRow => {
    const row = filterRow(columns, filter, () => {
      rows.delete(row)
      row.node.remove()
      more.focus()
      sayChanged(list)
    })
    rows.add(row)
    list.append(row.node)
    return row
  }
  const more = button(words.addFilter, () => {
    add(null).node.querySelector('select')?.focus()
    sayChanged(list)
  })
  for (const filter of filters) add(filter)
  return {
    node: element('fieldset', {}, element('legend', {}, words.filters), list, more),
    read: () => [...rows].map((row) => row.read()),
  }
}

interface FilterRow {
  readonly node: HTMLElement
  readonly read: () => Filter
}

/** The column decides which operators are offered; both decide the input for the value. */
function filterRow(
  columns: readonly PageColumn[],
  filter: Filter | null,
  remove: () => void,
): FilterRow {
  const column = element('select', { 'aria-label': words.column }, ...columns.map(columnOption))
  const operator = element('select', { 'aria-label': words.operator })
  const place = element('span', { class: 'value' })
  const gone = button('×', remove, { class: 'remove' })
  const chosen = () => columns.find(({ name }) => name === column.value)
  // Every option is an operator.
  const read = () => ({
    column: column.value,
    operator: operator.value as Operator,
    values: valuesIn(place),
  })
  const setOperators = (wanted: string) => {
    const known = chosen()?.operators ?? []
    operator.replaceChildren(...known.map(operatorOption))
    operator.value = known.find((each) => each === wanted) ?? known[0] ?? ''
    gone.setAttribute('aria-label', words.removeFilter(column.value))
  }
  const setValue = (values: readonly string[]) => {
    const known = chosen()
    const input = known && valueInput(known, read().operator, values)
    place.replaceChildren(...(input ? [input] : []))
    sayChanged(place)
  }
  column.addEventListener('change', () => {
    setOperators(operator.value)
    setValue([])
  })
  operator.addEventListener('change', () => setValue(valuesIn(place)))
  column.value = filter?.column ?? columns[0]?.name ?? ''
  setOperators(filter?.operator ?? '')
  setValue(filter?.values ?? [])
  return { node: element('li', {}, column, operator, place, gone), read }
}

function columnOption({ name, description }: PageColumn): HTMLOptionElement {
  const isLong = description.length > hintLettersMax
  const hint = isLong ? `${description.slice(0, hintLettersMax - 1)}…` : description
  return element('option', { value: name }, hint === '' ? name : `${name} · ${hint}`)
}

function operatorOption(operator: Operator): HTMLOptionElement {
  return element('option', { value: operator }, words.operators[operator])
}
