import type { ListQuestion } from '../../../lists/ask-keys.js'
import { keyJudge } from '../../../lists/judge-key.js'
import { planOf } from '../../../lists/list-plan.js'
import { listPrice } from '../../../lists/list-price.js'
import type { ListPrice } from '../../../lists/list-price.js'
import { freeNames, statusName } from '../../../lists/new-columns.js'
import type { ListFile } from '../../../lists/open-list.js'
import { readKeys } from '../../../lists/read-keys.js'
import type { MalformedLine } from '../../../lists/read-keys.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { askWith, sayProblem } from './ask-list.js'
import type { ListDataset } from './list-dataset.js'
import { say } from './list-say.js'
import { runView } from './run-view.js'

/** A list, and what its owner wants for it. */
interface ListChoice {
  readonly list: ListFile
  readonly column: string
  readonly match: ListQuestion['match']
  /** Empty = all. */
  readonly select: readonly string[]
}

/**
 * Reads the keys of a list; shows what they are, what they can cost, and a way to run it.
 * @throws TableError, ServiceError for a list that can't be asked
 */
export async function checkList(
  dataset: ListDataset,
  { list, column, match, select }: ListChoice,
  busy: (isBusy: boolean) => void,
): Promise<HTMLElement> {
  const { facts, name, key } = dataset
  const node = element('section')
  const show = async (addZeros: boolean, lost: readonly MalformedLine[] | null) => {
    const judge = keyJudge(key, addZeros)
    const read = await readKeys(list, column, judge)
    // `wide` has the values of the history column in the names of the columns.
    const wanted = select.filter((each) => match !== 'wide' || each !== facts.history)
    const order = { key: key.name, match, where: [] }
    const plan = planOf({ ...order, select: wanted.length === 0 ? null : wanted }, facts)
    const question = { dataset: name, ...order, ...plan }
    // Names that can't be given are found before anything is paid.
    freeNames(list, read, [...plan.wanted, statusName], name)
    const zeros = lost ?? read.malformed.filter(({ withZero }) => withZero !== null)
    const box = element('input', { type: 'checkbox', checked: addZeros })
    box.addEventListener('input', () => {
      box.disabled = true
      show(box.checked, zeros).catch((cause: unknown) => sayProblem(node, cause))
    })
    const checks = element(
      'div',
      {},
      element('p', {}, say.lines(read.lines, read.keys.size)),
      read.malformed.length === 0 ? null : element('p', {}, malformedText(read.malformed)),
      zeros.length === 0
        ? null
        : element('label', { class: 'line' }, box, say.addZeros(zeros.length)),
      await priceView(dataset, question, [...read.keys]),
    )
    const run = runView(dataset, { list, read, judge, question }, (isBusy) => {
      checks.inert = isBusy
      busy(isBusy)
    })
    node.replaceChildren(element('h2', { tabindex: -1 }, say.checked), checks, run)
  }
  await show(false, null)
  return node
}

const linesShown = 5

function malformedText(malformed: readonly MalformedLine[]): string {
  const first = malformed.slice(0, linesShown).map(({ line, text }) => say.line(line, text))
  const more = malformed.length > linesShown ? ' …' : ''
  return say.malformed(malformed.length, first.join('; ') + more)
}

/** What the list costs and what is left, with a button that counts it exactly. */
async function priceView(dataset: ListDataset, question: ListQuestion, keys: readonly string[]) {
  const text = element('p', { role: 'status' })
  const ask = askWith(dataset.token, new AbortController().signal, text)
  const tell = async (isExact: boolean) => {
    const price = await listPrice(question, keys, dataset.facts, ask, isExact)
    text.textContent = priceText(price)
    return price
  }
  const { requestsMin } = await tell(false)
  const count = button(say.count(requestsMin), async () => {
    count.disabled = true
    await tell(true).catch((cause: unknown) => sayProblem(text, cause))
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
