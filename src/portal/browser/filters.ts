import { operators } from '../../catalog/operators.js'
import type { Operator } from '../../catalog/operators.js'
import type { PageColumn } from './columns.js'
import { button, element } from './element.js'
import { words } from './page-words.js'
import type { Filter } from './question.js'

export interface FilterEditor {
  readonly node: HTMLElement
  readonly read: () => readonly Filter[]
}

const hintLettersMax = 60

/** A list of filters that grows and shrinks: column, operator, value. */
export function filterEditor(
  columns: readonly PageColumn[],
  filters: readonly Filter[],
  changed: () => void,
): FilterEditor {
  const list = element('ul', { class: 'filters' })
  const rows = new Map<HTMLElement, () => Filter>()
  const add = (filter: Filter | null): HTMLElement => {
    const row = element('li')
    rows.set(
      row,
      filterRow(row, columns, filter, () => {
        rows.delete(row)
        row.remove()
        more.focus()
        changed()
      }),
    )
    list.append(row)
    return row
  }
  const more = button(words.addFilter, () => {
    add(null).querySelector('select')?.focus()
    changed()
  })
  for (const filter of filters) add(filter)
  return {
    node: element('fieldset', {}, element('legend', {}, words.filters), list, more),
    read: () => [...rows.values()].map((read) => read()),
  }
}

/** Fills a row and returns what reads it. */
function filterRow(
  row: HTMLElement,
  columns: readonly PageColumn[],
  filter: Filter | null,
  remove: () => void,
): () => Filter {
  const column = element('select', { 'aria-label': words.column }, ...columns.map(columnOption))
  const operator = element('select', { 'aria-label': words.operator })
  const place = element('span', { class: 'value' })
  const gone = button('×', remove, { class: 'remove' })
  column.value = filter?.column ?? columns[0]?.name ?? ''
  const chosen = () => columns.find(({ name }) => name === column.value)
  const setOperators = () => {
    const known = chosen()?.operators ?? []
    const before = operator.value
    operator.replaceChildren(...known.map(operatorOption))
    operator.value = known.find((each) => each === before) ?? known[0] ?? ''
    gone.setAttribute('aria-label', words.removeFilter(column.value))
  }
  const setValue = (values: readonly string[]) => {
    const input = valueInput(chosen(), operator.value as Operator, values)
    place.replaceChildren(...(input ? [input] : []))
  }
  const read = (): Filter => ({
    column: column.value,
    operator: operator.value as Operator,
    values: valuesIn(place),
  })
  column.addEventListener('change', () => {
    setOperators()
    setValue([])
  })
  operator.addEventListener('change', () => setValue(valuesIn(place)))
  setOperators()
  if (filter) operator.value = filter.operator
  setValue(filter?.values ?? [])
  row.append(column, operator, place, gone)
  return read
}

function columnOption({ name, description }: PageColumn): HTMLOptionElement {
  const short =
    description.length > hintLettersMax
      ? `${description.slice(0, hintLettersMax - 1)}…`
      : description
  return element('option', { value: name }, short === '' ? name : `${name} · ${short}`)
}

function operatorOption(operator: Operator): HTMLOptionElement {
  return element('option', { value: operator }, words.operators[operator])
}

/** Where a value of the column is entered; null for an operator that takes none. */
function valueInput(
  column: PageColumn | undefined,
  operator: Operator,
  values: readonly string[],
): HTMLElement | null {
  const { form } = operators[operator]
  if (form === 'none' || !column) return null
  if (form === 'list') {
    const lines = { rows: Math.max(2, Math.min(values.length, 6)), required: true }
    const list = element('textarea', { 'aria-label': words.valueList, ...lines })
    list.placeholder = words.valueList
    list.value = values.join('\n')
    return list
  }
  const value = values[0] ?? ''
  if (column.type === 'boolean') {
    const truth = element(
      'select',
      { 'aria-label': words.value },
      element('option', { value: 'true' }, words.yes),
      element('option', { value: 'false' }, words.no),
    )
    if (value !== '') truth.value = value
    return truth
  }
  const kinds = { date: 'date', time: 'time', timestamp: 'datetime-local' } as const
  const isClock = column.type === 'date' || column.type === 'time' || column.type === 'timestamp'
  const isNumber = column.type === 'integer' || column.type === 'number'
  const input = element('input', {
    type: isClock ? kinds[column.type] : 'text',
    'aria-label': words.value,
    autocomplete: 'off',
    step: column.type === 'time' || column.type === 'timestamp' ? 1 : null,
    inputmode: isNumber ? 'decimal' : null,
    required: column.type !== 'string',
  })
  input.value = value
  return input
}

function valuesIn(place: HTMLElement): readonly string[] {
  const [input] = place.children
  if (input instanceof HTMLTextAreaElement) {
    return input.value.split('\n').filter((line) => line !== '')
  }
  const isField = input instanceof HTMLInputElement || input instanceof HTMLSelectElement
  return isField ? [input.value] : []
}
