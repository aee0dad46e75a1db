import { answerView } from './answer-view.js'
import { ask } from './ask.js'
import { columnPicker } from './column-picker.js'
import { readColumns } from './columns.js'
import type { PageColumn } from './columns.js'
import { enableCopying } from './copy.js'
import { button, element } from './element.js'
import { filterEditor } from './filters.js'
import { words } from './page-words.js'
import { readQuestion, writeQuestion } from './question.js'
import type { Question } from './question.js'
import { snippetTabs } from './snippet-tabs.js'
import { forgetToken, ownToken } from './token.js'

/** Builds the explorer of a dataset page: a question, its answer, and the lines that ask it. */
export function startExplorer(place: HTMLElement): void {
  const facts = readFacts(place)
  const token = ownToken() ?? facts.demoToken
  if (token === '') {
    place.replaceChildren(whoAsks(place, facts.demoToken))
    return
  }
  const columns = readColumns()
  const form = questionForm(columns, facts, () => showRequest())
  const walk = createWalk(facts, columns, token)
  const takeAway = requestView(facts, ownToken() === null ? token : 'YOUR_TOKEN', form.read())
  const showRequest = () => takeAway.show(form.read())
  form.node.addEventListener('submit', (event) => {
    event.preventDefault()
    walk.start(form.read())
  })
  place.replaceChildren(whoAsks(place, facts.demoToken), form.node, walk.node, takeAway.node)
}

interface Facts {
  readonly dataset: string
  readonly history: string
  readonly limit: number
  readonly limitMax: number
  /** Empty where the dataset has no demo. */
  readonly demoToken: string
  readonly query: string
}

function readFacts({ dataset: data }: HTMLElement): Facts {
  return {
    dataset: data['dataset'] ?? '',
    history: data['history'] ?? '',
    limit: Number(data['limit']),
    limitMax: Number(data['limitMax']),
    demoToken: data['demoToken'] ?? '',
    query: data['query'] ?? '',
  }
}

/** Whose token asks, and how to change that. */
function whoAsks(place: HTMLElement, demoToken: string): HTMLElement {
  if (ownToken() !== null) {
    const forget = button(words.forget, () => {
      forgetToken()
      startExplorer(place)
    })
    return element('p', { class: 'line who' }, words.withOwn, forget)
  }
  const address = document.querySelector<HTMLAnchorElement>('nav a[href*="/usage"]')?.href ?? ''
  return element(
    'p',
    { class: 'line who' },
    demoToken === '' ? words.noToken : words.withDemo,
    element('a', { href: address }, words.useOwn),
  )
}

function questionForm(columns: readonly PageColumn[], facts: Facts, changed: () => void) {
  const { filters, select } = readQuestion(facts.query)
  const editor = filterEditor(columns, filters, changed)
  const limit = element('input', {
    type: 'number',
    min: 1,
    max: facts.limitMax,
    value: facts.limit,
    required: true,
    'aria-describedby': 'limit-range',
  })
  const picker = columnPicker(columns, select, changed)
  const node = element(
    'form',
    { class: 'question' },
    editor.node,
    picker.node,
    element(
      'p',
      { class: 'line' },
      element('label', {}, `${words.rowsOfPage} `, limit),
      element('span', { class: 'muted', id: 'limit-range' }, words.limitRange(facts.limitMax)),
    ),
    element('p', {}, element('button', { class: 'primary' }, words.run)),
  )
  const read = (): Question => ({
    filters: editor.read(),
    select: picker.read(),
    limit: Number(limit.value),
  })
  node.addEventListener('input', changed)
  return { node, read }
}

/** A walk over the pages of one question; earlier pages are asked for again by their cursors. */
function createWalk({ dataset, history }: Facts, columns: readonly PageColumn[], token: string) {
  let question: Question | null = null
  let cursors: (string | null)[] = []
  let page = 0
  let asking: AbortController | null = null
  const view = answerView(history, {
    previous: () => void load(page - 1),
    next: () => void load(page + 1),
  })
  const load = async (wanted: number) => {
    if (!question) return
    asking?.abort()
    const mine = new AbortController()
    asking = mine
    view.wait()
    const cursor = cursors[wanted] ?? null
    const query = writeQuestion(question) + (cursor === null ? '' : `&cursor=${cursor}`)
    const answer = await ask(`/v1/${dataset}?${query}`, token, mine.signal)
    if (mine.signal.aborted) return
    const { select } = question
    const shown =
      select.length === 0
        ? columns
        : select.flatMap((name) => columns.find((each) => each.name === name) ?? [])
    const next = view.show(answer, shown, wanted)
    if (answer.kind === 'refused') return
    page = wanted
    cursors[wanted + 1] = next
  }
  const start = (asked: Question) => {
    question = asked
    cursors = [null]
    void load(0)
  }
  return { node: view.node, start }
}

/** The request as a URL and in every tool's words. */
function requestView({ dataset }: Facts, token: string, first: Question) {
  const baseUrl = document.documentElement.dataset['base'] ?? ''
  const requestOf = (question: Question) => ({
    baseUrl,
    dataset,
    query: writeQuestion(question),
    token,
  })
  const url = element('code')
  const tabs = snippetTabs(requestOf(first))
  const show = (question: Question) => {
    const request = requestOf(question)
    url.textContent = `${baseUrl}/v1/${dataset}?${request.query}`
    tabs.show(request)
  }
  show(first)
  const node = element(
    'div',
    { class: 'take' },
    element('h3', {}, words.request),
    element(
      'div',
      { class: 'code' },
      element('pre', { tabindex: 0 }, url),
      element('button', { type: 'button', class: 'copy' }, words.copy),
    ),
    element('h3', {}, words.take),
    tabs.node,
    token === 'YOUR_TOKEN' ? element('p', { class: 'muted' }, words.yourToken) : null,
  )
  enableCopying(node)
  return { node, show }
}
