import type { ListQuestion } from '../../../lists/ask-keys.js'
import type { DatasetFacts } from '../../../lists/dataset-facts.js'
import type { KeyColumn } from '../../../lists/judge-key.js'
import type { ListFile } from '../../../lists/open-list.js'
import { element, onSubmit } from '../element.js'
import { columnPicker } from '../explorer/column-picker.js'
import type { PickedColumn } from '../explorer/column-picker.js'
import { sayProblem } from './ask-list.js'
import { say } from './list-say.js'
import { guessColumn, openContent, openPasted } from './open-file.js'
import type { KeyNames } from './open-file.js'

/** The dataset of the page, as its token sees it. */
export interface ListDataset {
  readonly name: string
  readonly token: string
  readonly facts: DatasetFacts
  readonly hasAggregates: boolean
  readonly keyColumn: KeyColumn
  readonly keys: KeyNames
  readonly columns: readonly PickedColumn[]
  /** The columns that are ticked at first. */
  readonly first: readonly string[]
  readonly matches: readonly ListQuestion['match'][]
}

/** A list, and what its owner wants for it. */
export interface ListChoice {
  readonly list: ListFile
  readonly column: string
  readonly match: ListQuestion['match']
  /** Empty = all. */
  readonly select: readonly string[]
}

/** The form that takes a list and what to add to it; `check` gets them when it is submitted. */
export function listForm(
  { keys, columns, first, matches }: ListDataset,
  check: (choice: ListChoice) => Promise<void>,
): HTMLFormElement {
  let list: ListFile | null = null
  const status = element('span', { role: 'status', class: 'status' })
  const column = element('select', { id: 'list-column' })
  const options = matches.map((each) => element('option', { value: each }, say.matches[each]))
  const match = element('select', { id: 'list-match' }, ...options)
  const names = columns.map(({ name }) => name)
  const select = columnPicker(
    columns,
    first.filter((name) => names.includes(name)),
  )
  const choices = element(
    'fieldset',
    { hidden: true },
    element('legend', {}, say.columns),
    element('p', { class: 'line' }, label('list-column', say.column), column),
    element('p', { class: 'line' }, label('list-match', say.match), match),
    select.node,
    element('p', {}, element('button', { class: 'primary' }, say.check)),
  )
  let latest = 0
  const take = async (opening: Promise<ListFile>) => {
    const turn = (latest += 1)
    status.classList.remove('error')
    status.textContent = ''
    choices.hidden = true
    try {
      const opened = await opening
      const guess = await guessColumn(opened, keys)
      if (turn !== latest) return
      list = opened
      const { guessed } = guess
      const named = guess.columns.map((name) =>
        element('option', { selected: name === guessed }, name),
      )
      column.replaceChildren(...named)
      choices.hidden = named.length === 0
      if (choices.hidden) status.textContent = say.noNames
    } catch (cause) {
      if (turn === latest) sayProblem(status, cause)
    }
  }
  const form = element('form', { class: 'question' }, listField(keys, take), status, choices)
  onSubmit(form, async () => {
    const chosen = match.value as ListQuestion['match']
    const choice = { column: column.value, match: chosen, select: select.read() }
    status.classList.remove('error')
    status.textContent = ''
    if (list) await check({ list, ...choice }).catch((cause: unknown) => sayProblem(status, cause))
  })
  return form
}

function label(id: string, text: string): HTMLElement {
  return element('label', { for: id }, text)
}

/** Takes a file that is chosen or dropped, or pasted text. */
function listField(keys: KeyNames, take: (opening: Promise<ListFile>) => Promise<void>) {
  const file = element('input', { id: 'list-file', type: 'file', accept: '.csv,.tsv,.txt,.xlsx' })
  const paste = element('textarea', { id: 'list-paste', rows: 4, spellcheck: 'false' })
  const read = async (chosen: File) =>
    openContent(chosen.name, new Uint8Array(await chosen.arrayBuffer()))
  const takeFirst = (files: FileList | null | undefined) => {
    const [chosen] = files ?? []
    if (chosen) void take(read(chosen))
  }
  file.addEventListener('input', () => {
    takeFirst(file.files)
  })
  paste.addEventListener('input', () => {
    if (paste.value.trim() !== '') void take(openPasted(paste.value, keys))
  })
  const field = element(
    'fieldset',
    {},
    element('legend', {}, say.list),
    element('p', { class: 'line' }, label('list-file', say.file), file),
    element('p', {}, label('list-paste', say.paste), paste),
  )
  field.addEventListener('dragover', (event) => event.preventDefault())
  field.addEventListener('drop', (event) => {
    event.preventDefault()
    takeFirst(event.dataTransfer?.files)
  })
  return field
}
