import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { forgetToken, ownToken } from '../stored-token.js'
import { columnPicker } from './column-picker.js'
import { readColumns } from './columns.js'
import { filterEditor } from './filter-rows.js'
import type { PageColumn } from './page-column.js'
import { readQuestion } from './question-form.js'
import type { Question } from './question-form.js'
import { requestView } from './request-view.js'
import { createWalk } from './walk.js'

/** Builds the explorer of a dataset page: a question, its answer, and code that asks it. */
export function startExplorer(place: HTMLElement): void {
  const facts = readFacts(place)
  const own = ownToken()
  const token = own ?? facts.demoToken
  place.replaceChildren(whoAsks(facts, () => startExplorer(place)))
  if (token === '') return
  const columns = readColumns()
  const form = questionForm(columns, facts)
  const walk = createWalk({ ...facts, columns, token })
  const request = requestView(facts.dataset, own === null ? token : null, form.read())
  form.node.addEventListener('input', () => request.show(form.read()))
  form.node.addEventListener('submit', (event) => {
    event.preventDefault()
    walk.start(form.read())
  })
  place.append(form.node, walk.node, request.node)
}

interface Facts {
  readonly dataset: string
  /** Empty if there is no such column. */
  readonly history: string
  readonly limit: number
  readonly limitMax: number
  /** Empty if the dataset has no demo. */
  readonly demoToken: string
  /** The first question. */
  readonly query: string
  /** The path of the page with the token input. */
  readonly usage: string
}

function readFacts({ dataset: data }: HTMLElement): Facts {
  return {
    dataset: data['dataset'] ?? '',
    history: data['history'] ?? '',
    limit: Number(data['limit']),
    limitMax: Number(data['limitMax']),
    demoToken: data['demoToken'] ?? '',
    query: data['query'] ?? '',
    usage: data['usage'] ?? '',
  }
}

/** Shows which token is used and how to change it. */
function whoAsks({ demoToken, usage }: Facts, again: () => void): HTMLElement {
  if (ownToken() !== null) {
    const forget = button(words.forget, () => {
      forgetToken()
      again()
    })
    return element('p', { class: 'line' }, words.withOwn, forget)
  }
  const text = demoToken === '' ? words.noToken : words.withDemo
  return element('p', { class: 'line' }, text, element('a', { href: usage }, words.useOwn))
}

/** The form of a question. It fires an `input` event on every change. */
function questionForm(columns: readonly PageColumn[], { query, limit, limitMax }: Facts) {
  const { filters, select } = readQuestion(query)
  const editor = filterEditor(columns, filters)
  const picker = columnPicker(columns, select)
  const rows = element('input', {
    type: 'number',
    min: 1,
    max: limitMax,
    value: limit,
    required: true,
    'aria-describedby': 'limit-range',
  })
  const node = element(
    'form',
    { class: 'question' },
    editor.node,
    picker.node,
    element(
      'p',
      { class: 'line' },
      element('label', {}, `${words.rowsOfPage} `, rows),
      element('span', { class: 'muted', id: 'limit-range' }, words.limitRange(limitMax)),
    ),
    element('p', {}, element('button', { class: 'primary' }, words.run)),
  )
  const read = (): Question => ({
    filters: editor.read(),
    select: picker.read(),
    limit: Number(rows.value),
  })
  return { node, read }
}
