import { button, element, sayChanged } from '../element.js'
import { words } from '../page-words.js'
import { wordFinder } from '../word-finder.js'
import { bySection } from '../question/page-column.js'
import type { PageColumn } from '../question/page-column.js'
import type { FormPart } from '../question/row-list.js'

/** What a checkbox says of a column. */
export type PickedColumn = Pick<PageColumn, 'name' | 'label' | 'section' | 'description'>

/**
 * A list of checkboxes for columns, filtered as the visitor types. Its value is the names in the
 * order of choosing; empty = all.
 */
export function columnPicker(
  columns: readonly PickedColumn[],
  chosen: readonly string[],
): FormPart<readonly string[]> {
  const names = new Set(chosen.length === 0 ? columns.map(({ name }) => name) : chosen)
  const count = element('span', { class: 'muted' })
  const say = () => {
    const some = names.size === 0 ? words.noColumn : words.columnsChosen(names.size, columns.length)
    count.textContent = names.size === columns.length ? words.everyColumn : some
  }
  const tickOf = (column: PickedColumn) => {
    const { name, label, description } = column
    const box = element('input', { type: 'checkbox', checked: names.has(name) })
    box.addEventListener('input', () => {
      if (box.checked) names.add(name)
      else names.delete(name)
      say()
    })
    const text =
      label === ''
        ? element('span', {}, element('code', {}, name), ` ${description}`)
        : element('span', { title: description }, `${label} · `, element('code', {}, name))
    return element('li', {}, element('label', {}, box, text))
  }
  const sections = bySection(columns, (column) => [tickOf(column)])
  const ticks = [...sections.values()].flat()
  const items = [...sections].flatMap(([section, own]) =>
    section === '' ? own : [element('li', {}, section, element('ul', {}, ...own))],
  )
  const list = element('ul', { class: 'ticks' }, ...items)
  const tick = (isTicked: boolean) => {
    names.clear()
    for (const { name } of isTicked ? columns : []) names.add(name)
    for (const box of list.querySelectorAll('input')) box.checked = isTicked
    say()
    sayChanged(list)
  }
  const all = button(words.everyColumn, () => tick(true))
  const none = button(words.none, () => tick(false))
  const find = wordFinder(ticks)
  const search = element('input', { type: 'search', 'aria-label': words.findColumn })
  search.placeholder = words.findColumn
  search.addEventListener('input', () => {
    find(search.value)
  })
  search.addEventListener('keydown', (event) => {
    // Enter would submit the surrounding form.
    if (event.key === 'Enter') event.preventDefault()
  })
  say()
  const summary = element('summary', {}, `${words.columnsToShow}: `, count)
  const node = element(
    'details',
    {},
    summary,
    element('p', { class: 'line' }, search, all, none),
    list,
  )
  return { node, read: () => (names.size === columns.length ? [] : [...names]) }
}
