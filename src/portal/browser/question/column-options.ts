import { element } from '../element.js'
import { bySection, columnHint } from './page-column.js'
import type { PageColumn } from './page-column.js'

/** The options of a list of columns, by section; `optionsOf` makes those of one column. */
export function columnOptions<Column extends PageColumn>(
  columns: readonly Column[],
  optionsOf = (column: Column): readonly HTMLOptionElement[] => [
    element('option', { value: column.name }, columnHint(column)),
  ],
): readonly HTMLElement[] {
  return [...bySection(columns, optionsOf)].flatMap<HTMLElement>(([label, options]) =>
    label === '' || options.length === 0 ? options : [element('optgroup', { label }, ...options)],
  )
}
