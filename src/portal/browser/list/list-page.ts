import type { ListQuestion } from '../../../lists/ask-keys.js'
import { historyValues, readFacts } from '../../../lists/dataset-facts.js'
import type { ListFile } from '../../../lists/open-list.js'
import { element, onSubmit } from '../element.js'
import { columnPicker } from '../explorer/column-picker.js'
import { words } from '../page-words.js'
import { ownToken } from '../tab-store.js'
import { tokenBar } from '../token-form.js'
import { askWith, sayProblem, sleep } from './ask-list.js'
import { checkList } from './check-list.js'
import { datasetOf } from './list-dataset.js'
import type { ListDataset } from './list-dataset.js'
import { say } from './list-say.js'
import { guessColumn, listBytesMax, openContent, openPasted } from './open-file.js'

/** Starts the page that adds columns of a dataset to a list of keys. */
export function startList(place: HTMLElement): void {
  const { demoToken = '' } = place.dataset
  const bar = tokenBar(demoToken !== '', () => startList(place))
  const token = ownToken() ?? demoToken
  const status = element('p', { role: 'status', class: 'status' })
  place.replaceChildren(bar, status)
  if (token !== '') void show(place, bar, token, status)
}

/** Asks what the token sees of the dataset, and shows the form and what comes of it. */
async function show(place: HTMLElement, bar: HTMLElement, token: string, status: HTMLElement) {
  status.textContent = words.running
  const ask = askWith(token, new AbortController().signal, status)
  try {
    const facts = await readFacts(ask, place.dataset['dataset'] ?? '', sleep)
    const result = element('div')
    const form = listForm(datasetOf(place, token, facts), result, (isBusy) => {
      for (const each of [bar, form]) each.inert = isBusy
    })
    status.replaceWith(form, result)
  } catch (cause) {
    sayProblem(status, cause)
  }
}

/** The form that takes a list and what to add to it; what it was checked to be is in `result`. */
function listForm(dataset: ListDataset, result: HTMLElement, busy: (isBusy: boolean) => void) {
  const { facts, columns, first } = dataset
  const status = element('p', { role: 'status', class: 'status' })
  const column = element('select')
  const isKnown = facts.history === null || historyValues(facts, []) !== null
  const matches = (['newest', 'all', 'wide'] as const).filter(
    (each) => (each !== 'newest' || isKnown) && (each !== 'wide' || facts.history !== null),
  )
  const options = matches.map((each) => element('option', { value: each }, say.matches[each]))
  const match = element('select', {}, ...options)
  const select = columnPicker(columns, first)
  const choices = element(
    'fieldset',
    { hidden: true },
    element('legend', {}, say.columns),
    element('label', { class: 'line' }, say.column, column),
    element('label', { class: 'line' }, say.match, match),
    select.node,
    element('p', {}, element('button', { class: 'primary' }, say.check)),
  )
  let [list, latest]: [ListFile | null, number] = [null, 0]
  const take = async (opening: Promise<ListFile>) => {
    const turn = (latest += 1)
    sayProblem(status, null)
    choices.hidden = true
    try {
      const opened = await opening
      const { names, guessed } = await guessColumn(opened, dataset)
      if (names.length === 0) throw new Error(say.noNames)
      if (turn !== latest) return
      list = opened
      const named = names.map((name) => element('option', { selected: name === guessed }, name))
      column.replaceChildren(...named)
      choices.hidden = false
    } catch (cause) {
      if (turn === latest) sayProblem(status, cause)
    }
  }
  const form = element('form', { class: 'question' }, listField(dataset, take), status, choices)
  form.addEventListener('input', () => result.replaceChildren())
  onSubmit(form, async () => {
    if (!list) return
    sayProblem(status, null)
    const chosen = match.value as ListQuestion['match']
    const choice = { list, column: column.value, match: chosen, select: select.read() }
    busy(true)
    try {
      result.replaceChildren(await checkList(dataset, choice, busy))
    } catch (cause) {
      sayProblem(status, cause)
    }
    busy(false)
    result.querySelector('h2')?.focus()
  })
  return form
}

/** Takes a file that is chosen or dropped, or pasted text. */
function listField(dataset: ListDataset, take: (opening: Promise<ListFile>) => Promise<void>) {
  const file = element('input', { type: 'file', accept: '.csv,.tsv,.txt,.xlsx' })
  const paste = element('textarea', { rows: 4, spellcheck: 'false' })
  const takeFirst = (files: FileList | null | undefined) => {
    const [chosen] = files ?? []
    const read = async (from: File) => {
      if (from.size > listBytesMax) throw new Error(say.tooLarge)
      return openContent(from.name, new Uint8Array(await from.arrayBuffer()))
    }
    if (chosen) void take(read(chosen))
  }
  file.addEventListener('input', () => takeFirst(file.files))
  paste.addEventListener('input', () => {
    if (paste.value.trim() !== '') void take(openPasted(paste.value, dataset))
  })
  const field = element(
    'fieldset',
    {},
    element('legend', {}, say.list),
    element('label', { class: 'line' }, say.file, file),
    element('label', { class: 'line' }, say.paste, paste),
  )
  field.addEventListener('dragover', (event) => event.preventDefault())
  field.addEventListener('drop', (event) => {
    event.preventDefault()
    takeFirst(event.dataTransfer?.files)
  })
  return field
}
