import { textOf } from '../service/entity-rows.js'
import type { ShownRows } from '../service/entity-rows.js'
import type { ShownColumn } from '../service/showcase.js'
import { shareUnit } from '../wording.js'
import { shortValues } from './chart/short-values.js'
import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import { floatDigits } from './writers.js'

/** What is written of a column. */
export type ValueColumn = Pick<ShownColumn, 'name' | 'type' | 'unit' | 'isQuantity' | 'decimals'>

const dash = '–'

/** A value as the language writes it, from its JSON text: codes with their meaning beside them. */
export function valueText(
  { words, language }: PageContext,
  column: ValueColumn,
  json: string,
  meaning: ShownRows['meaning'] = () => null,
): string {
  const text = textOf(json)
  if (text === '') return dash
  if (column.isQuantity) return numberText(words, language, text, column)
  if (column.type === 'date') return words.day(text)
  if (column.type === 'timestamp') return text.replace('T', ' ')
  const label = meaning(column.name, json)
  return label === null ? text : `${text} · ${label}`
}

/** Shares are in percent. A floating-point number has as many digits as it surely knows. */
function numberText(
  words: PageContext['words'],
  language: string,
  text: string,
  { unit, decimals }: Pick<ValueColumn, 'unit' | 'decimals'>,
): string {
  if (shareUnit.test(unit ?? '')) return shortValues(language, unit ?? '').writeExact(text)
  return words.digits(decimals === null || /e/i.test(text) ? floatDigits(text) : text)
}

/** The label with the code, and the unit unless it is said elsewhere: that of shares is percent. */
export function columnHeading(
  { name, label }: Pick<ShownColumn, 'name' | 'label'>,
  unit: string | null,
): Html {
  const said = shareUnit.test(unit ?? '') ? '%' : unit
  const beside = [label === null ? null : name, said].filter((each) => each !== null).join(', ')
  return html`${label ?? name}${beside === '' ? null : html` <span class="muted">${beside}</span>`}`
}
