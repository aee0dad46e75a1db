import { callName, parseCalls } from '../../../columns/call-text.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import { columnOptions } from '../question/column-options.js'
import { columnHint } from '../question/page-column.js'
import type { DatasetColumn, DefinedMeasure } from '../question/page-column.js'
import { rowList } from '../question/row-list.js'
import type { FormPart } from '../question/row-list.js'
import { headingOf } from './summary-columns.js'

const measuresMax = 16
const count = 'count'
/** The value of an option whose function needs a column. */
const call = (name: string) => `${name}()`
const percentiles: readonly string[] = ['p10', 'p90']
const allPercentiles = 'p1 to p99'
/** Offered in this order. */
const functions = ['sum', 'avg', 'median', ...percentiles, 'min', 'max', 'distinct', count]
const counting: readonly string[] = ['distinct', count]
const momentTypes: readonly string[] = ['date', 'timestamp', 'time']

interface Choices {
  readonly columns: readonly DatasetColumn[]
  readonly measures: readonly DefinedMeasure[]
}

/** What is computed for each group: the dataset's measures, and functions of columns. */
export function measureChoice(
  choices: Choices,
  chosen: readonly string[],
): FormPart<readonly string[]> {
  const texts = { legend: words.measures, add: words.addMeasure, remove: words.removeMeasure }
  const limits = { min: 1, max: measuresMax }
  return rowList(texts, chosen, (measure) => measureRow(choices, measure ?? count), limits)
}

/** The columns for which a function is offered: codes and texts are counted, never added up. */
function columnsFor(columns: readonly DatasetColumn[], name: string): readonly DatasetColumn[] {
  const written = percentiles.includes(name) ? allPercentiles : name
  return columns.filter(
    ({ measures, isQuantity, type }) =>
      measures.includes(written) &&
      (counting.includes(name) || isQuantity || momentTypes.includes(type)),
  )
}

function measureRow({ columns, measures }: Choices, chosen: string): FormPart<string> {
  const known = functions.filter((name) => columnsFor(columns, name).length > 0)
  const parts = callParts(chosen)
  const isOffered =
    parts && known.includes(parts.name) && columns.some(({ name }) => name === parts.column)
  const wanted = isOffered ? call(parts.name) : chosen
  const kind = element(
    'select',
    { 'aria-label': words.measure },
    ...measures.map((measure) =>
      element('option', { value: callName(measure.name) }, columnHint(measure)),
    ),
    element('option', { value: count }, words.countRows),
    ...known.map((name) => element('option', { value: call(name) }, words.functions[name] ?? name)),
  )
  // A measure of the address that the list has not, such as a quotient.
  if (![...kind.options].some(({ value }) => value === wanted)) {
    const title = headingOf({ columns, measures }, 'measures', wanted, words)
    kind.prepend(element('option', { value: wanted }, title))
  }
  const column = element('select', { 'aria-label': words.column })
  const offer = (name: string | undefined) => {
    const found = known.find((each) => call(each) === kind.value)
    const offered = found === undefined ? [] : columnsFor(columns, found)
    column.replaceChildren(...columnOptions(offered))
    column.hidden = offered.length === 0
    column.value = offered.find((each) => each.name === name)?.name ?? offered[0]?.name ?? ''
  }
  kind.addEventListener('input', () => offer(column.value))
  kind.value = wanted
  offer(parts?.column)
  const read = () => {
    const { value } = kind
    return column.hidden ? value : value.replace(')', () => `${callName(column.value)})`)
  }
  return { node: element('div', { class: 'measure' }, kind, column), read }
}

/** `sum` and `2110` of `sum(2110)`, which may also be a formula; null for every other form. */
function callParts(text: string): { readonly name: string; readonly column: string } | null {
  const [read] = parseCalls(text, 'measures')
  const [[column, ...divisors] = [], ...others] = read?.operands ?? []
  const isPlain = read?.alias === null && divisors.length === 0 && others.length === 0
  return isPlain && column ? { name: read.name, column: column.name } : null
}
