import type { PageColumn } from './columns.js'
import { button, element } from './element.js'
import { words } from './page-words.js'

export interface ColumnPicker {
  readonly node: HTMLElement
  /** In the order of choosing; empty = all. */
  readonly read: () => readonly string[]
}

/** Chooses columns out of very many: a list to tick, narrowed as one types. */
export function columnPicker(
  columns: readonly PageColumn[],
  chosen: readonly string[],
  changed: () => void,
): ColumnPicker {
  const names = new Set(chosen)
  const count = element('span', { class: 'muted' })
  const tick = ({ name, description }: PageColumn): HTMLElement => {
    const box = element('input', { type: 'checkbox', value: name, checked: names.has(name) })
    box.addEventListener('change', () => {
      if (box.checked) names.add(name)
      else names.delete(name)
      say()
      changed()
    })
    return element(
      'li',
      {},
      element('label', {}, box, element('code', {}, name), ` ${description}`),
    )
  }
  const ticks = columns.map(tick)
  const list = element('ul', { class: 'ticks' }, ...ticks)
  const search = element('input', { type: 'search', 'aria-label': words.findColumn })
  search.placeholder = words.findColumn
  search.addEventListener('input', () => {
    const wanted = search.value.toLowerCase().split(/\s+/)
    for (const each of ticks) {
      const text = each.textContent.toLowerCase()
      each.hidden = !wanted.every((word) => text.includes(word))
    }
  })
  const all = button(words.everyColumn, () => {
    names.clear()
    for (const box of list.querySelectorAll('input')) box.checked = false
    say()
    changed()
  })
  const say = () => {
    const isAll = names.size === 0
    count.textContent = isAll ? words.everyColumn : words.columnsChosen(names.size, columns.length)
  }
  say()
  const summary = element('summary', {}, `${words.columnsToShow}: `, count)
  const node = element('details', {}, summary, element('p', { class: 'line' }, search, all), list)
  return { node, read: () => [...names] }
}
