import type { ListQuestion } from '../../../lists/ask-keys.js'
import { keyJudge } from '../../../lists/judge-key.js'
import type { JudgeCell } from '../../../lists/judge-key.js'
import { planOf } from '../../../lists/list-plan.js'
import type { ListPlan } from '../../../lists/list-plan.js'
import { listPrice } from '../../../lists/list-price.js'
import type { ListPrice } from '../../../lists/list-price.js'
import { readKeys } from '../../../lists/read-keys.js'
import type { ListKeys, MalformedLine } from '../../../lists/read-keys.js'
import { listed } from '../../../text.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { askWith, sayProblem } from './ask-list.js'
import type { ListChoice, ListDataset } from './list-form.js'
import { say } from './list-say.js'
import { runView } from './run-view.js'

/** A list that was read, and how it will be asked. */
export interface CheckedList extends ListChoice {
  readonly read: ListKeys
  readonly judge: JudgeCell
  readonly question: ListQuestion & ListPlan
}

/**
 * Reads the keys of a list; shows what they are and what they can cost, and runs it.
 * @throws TableError, ServiceError for a list that can't be asked
 */
export async function checkList(
  dataset: ListDataset,
  choice: ListChoice,
  busy: (isBusy: boolean) => void,
): Promise<HTMLElement> {
  const node = element('section')
  const show = async (addZeros: boolean, lost: readonly MalformedLine[] | null) => {
    const judge = keyJudge(dataset.keyColumn, addZeros)
    const read = await readKeys(choice.list, choice.column, judge)
    const wanted = choice.match === 'wide' ? withoutHistory(dataset, choice) : choice.select
    const order = { key: dataset.keys.key, match: choice.match, where: [] }
    const select = wanted.length === 0 ? null : wanted
    const plan = planOf({ ...order, select }, dataset.facts)
    const question = { dataset: dataset.name, ...order, ...plan }
    const zeros = lost ?? read.malformed.filter(({ withZero }) => withZero !== null)
    const box = element('input', { type: 'checkbox', checked: addZeros })
    box.addEventListener('input', () => {
      void show(box.checked, zeros)
    })
    const tick = element('label', { class: 'line' }, box, say.addZeros(zeros.length))
    const checks = element(
      'div',
      {},
      element('p', {}, say.lines(read.lines, read.keys.size)),
      read.malformed.length === 0 ? null : element('p', {}, malformedText(read.malformed)),
      zeros.length === 0 ? null : element('p', {}, tick),
      ...[...choice.list.notes].map((note) => element('p', { lang: 'en', class: 'muted' }, note)),
      await priceView(dataset, question, [...read.keys]),
    )
    const run = runView(dataset, { ...choice, read, judge, question }, (isBusy) => {
      checks.inert = isBusy
      busy(isBusy)
    })
    node.replaceChildren(element('h2', { tabindex: -1 }, say.check), checks, run)
  }
  await show(false, null)
  return node
}

/** `wide` has its values in the names of the columns. */
function withoutHistory({ facts }: ListDataset, { select }: ListChoice): readonly string[] {
  return select.filter((name) => name !== facts.history)
}

function malformedText(malformed: readonly MalformedLine[]): string {
  const first = malformed.map(({ line, text }) => say.line(line, JSON.stringify(text)))
  return say.malformed(malformed.length, listed(first.slice(0, 5)))
}

/** What the list costs and what is left, with a button that counts it exactly. */
async function priceView(dataset: ListDataset, question: ListQuestion, keys: readonly string[]) {
  const { signal } = new AbortController()
  const text = element('p', { role: 'status' })
  const ask = askWith(dataset.token, signal, (seconds) => (text.textContent = say.waiting(seconds)))
  const priceOf = (isExact: boolean) => listPrice(question, keys, dataset.facts, ask, isExact)
  const price = await priceOf(false)
  text.textContent = priceText(price)
  const count = button(say.count(price.requestsMin), async () => {
    count.disabled = true
    try {
      text.textContent = priceText(await priceOf(true))
    } catch (cause) {
      sayProblem(text, cause)
      count.disabled = false
    }
  })
  const isOffered = dataset.hasAggregates && keys.length > 0
  return element('div', {}, text, isOffered ? element('p', {}, count) : null)
}

function priceText({ rowsMax, rowsExact, rowsLeft }: ListPrice): string {
  const most = rowsExact ?? rowsMax
  const known = rowsMax === null ? say.unknown : say.atMost(rowsMax)
  const cost = rowsExact === null ? known : say.exactly(rowsExact)
  const left = rowsLeft === null ? say.noLimit : `${words.rowsLeft(rowsLeft)}.`
  const isShort = most !== null && rowsLeft !== null && most > rowsLeft
  return [cost, left, ...(isShort ? [say.short] : [])].join(' ')
}
