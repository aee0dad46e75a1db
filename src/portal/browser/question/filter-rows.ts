import type { Operator } from '../../../columns/operators.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import { columnOptions } from './column-options.js'
import type { Filter } from './filters.js'
import type { PageColumn } from './page-column.js'
import { rowList } from './row-list.js'
import type { FormPart } from './row-list.js'
import { valueInput, valuesIn } from './value-input.js'

/** An editable list of filters: column, operator, value. */
export function filterEditor(
  columns: readonly PageColumn[],
  filters: readonly Filter[],
): FormPart<readonly Filter[]> {
  const texts = {
    legend: words.filters,
    add: words.addFilter,
    remove: ({ column }: Filter) => words.removeFilter(column),
  }
  return rowList(texts, filters, (filter) => filterRow(columns, filter))
}

/**
 * The column decides which operators are offered; both decide the input for the value. Each answers
 * to `input`, so that the form, which reads it next, finds it complete.
 */
function filterRow(columns: readonly PageColumn[], filter: Filter | null): FormPart<Filter> {
  const column = element('select', { 'aria-label': words.column }, ...columnOptions(columns))
  const operator = element('select', { 'aria-label': words.operator })
  const place = element('span', { class: 'value' })
  const chosen = () => columns.find(({ name }) => name === column.value)
  // Every option is an operator.
  const read = () => ({
    column: column.value,
    operator: operator.value as Operator,
    values: valuesIn(place),
  })
  const setOperators = (wanted: string) => {
    const known = chosen()?.operators ?? []
    const options = known.map((each) => element('option', { value: each }, words.operators[each]))
    operator.replaceChildren(...options)
    operator.value = known.find((each) => each === wanted) ?? known[0] ?? ''
  }
  const setValue = (values: readonly string[]) => {
    const known = chosen()
    const input = known && valueInput(known, read().operator, values)
    place.replaceChildren(...(input ? [input] : []))
  }
  column.addEventListener('input', () => {
    setOperators(operator.value)
    setValue([])
  })
  operator.addEventListener('input', () => setValue(valuesIn(place)))
  column.value = filter?.column ?? columns[0]?.name ?? ''
  setOperators(filter?.operator ?? '')
  setValue(filter?.values ?? [])
  return { node: element('div', { class: 'filter' }, column, operator, place), read }
}
