import { operators } from '../../../columns/operators.js'
import type { Operator } from '../../../columns/operators.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import type { PageColumn } from './page-column.js'

const linesMin = 2
const linesMax = 6
/** Entered as text: the browser's own inputs support neither zones nor six-digit fractions. */
const clockExamples = { time: '09:30:00', timestamp: '2024-12-31T09:30:00' } as const

/** The input for a filter's values; null for an operator without a value. */
export function valueInput(
  column: PageColumn,
  operator: Operator,
  values: readonly string[],
): HTMLElement | null {
  const { form } = operators[operator]
  if (form === 'none') return null
  if (form === 'list') return listInput(values)
  const [value = ''] = values
  return column.type === 'boolean' ? truthInput(value) : oneInput(column, value, form === 'words')
}

/** The entered values; empty if there is no input. */
export function valuesIn(place: HTMLElement): readonly string[] {
  const [input] = place.children
  if (input instanceof HTMLTextAreaElement) {
    return input.value.split('\n').filter((line) => line !== '')
  }
  const isField = input instanceof HTMLInputElement || input instanceof HTMLSelectElement
  return isField ? [input.value] : []
}

function listInput(values: readonly string[]): HTMLElement {
  const list = element('textarea', {
    'aria-label': words.valueList,
    placeholder: words.valueList,
    rows: Math.max(linesMin, Math.min(values.length, linesMax)),
    required: true,
  })
  list.value = values.join('\n')
  return list
}

function truthInput(value: string): HTMLElement {
  const choices = ['true', 'false'].map((truth) => element('option', {}, truth))
  const truth = element('select', { 'aria-label': words.value }, ...choices)
  if (value !== '') truth.value = value
  return truth
}

/** Text may be empty, except words to search for; other types require a value. */
function oneInput({ type }: PageColumn, value: string, areWords: boolean): HTMLElement {
  const isClock = type === 'time' || type === 'timestamp'
  const isNumber = type === 'integer' || type === 'number'
  const input = element('input', {
    type: type === 'date' ? 'date' : 'text',
    'aria-label': words.value,
    autocomplete: 'off',
    placeholder: isClock ? clockExamples[type] : null,
    inputmode: isNumber ? 'decimal' : null,
    required: type !== 'string' || areWords,
  })
  input.value = value
  return input
}
