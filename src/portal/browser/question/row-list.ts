import { button, element, sayChanged } from '../element.js'

/** A part of a form: its element, and the value that it holds now. */
export interface FormPart<Value> {
  readonly node: HTMLElement
  readonly read: () => Value
}

interface RowListTexts<Value> {
  readonly legend: string
  readonly add: string
  /** Names the button that removes the row with this value. */
  readonly remove: (value: Value) => string
}

/**
 * A list of rows of inputs; the visitor adds and removes rows, down to `min` and up to `max`.
 * `makeRow` makes a row for a value, or for null a new one.
 */
export function rowList<Value>(
  texts: RowListTexts<Value>,
  values: readonly Value[],
  makeRow: (value: Value | null) => FormPart<Value>,
  { min = 0, max = Infinity }: { readonly min?: number; readonly max?: number } = {},
): FormPart<readonly Value[]> {
  const list = element('ul', { class: 'rows' })
  const rows = new Map<FormPart<Value>, HTMLElement>()
  const add = (value: Value | null): HTMLElement => {
    const row = makeRow(value)
    const remove = () => {
      rows.delete(row)
      item.remove()
      setButtons()
      more.focus()
      sayChanged(list)
    }
    const gone = button('×', remove, { class: 'remove' })
    const item = element('li', {}, row.node, gone)
    rows.set(row, gone)
    list.append(item)
    return item
  }
  const more = button(texts.add, () => {
    const item = add(null)
    setButtons()
    item.querySelector('select')?.focus()
    sayChanged(list)
  })
  const setButtons = () => {
    more.hidden = rows.size >= max
    for (const [row, gone] of rows) {
      gone.hidden = rows.size <= min
      gone.setAttribute('aria-label', texts.remove(row.read()))
    }
  }
  list.addEventListener('input', setButtons)
  for (const value of values) add(value)
  setButtons()
  return {
    node: element('fieldset', {}, element('legend', {}, texts.legend), list, more),
    read: () => [...rows.keys()].map((row) => row.read()),
  }
}
