import { historyValues, keyColumn, readFacts } from '../../../lists/dataset-facts.js'
import type { DatasetFacts } from '../../../lists/dataset-facts.js'
import { keyJudge } from '../../../lists/judge-key.js'
import { element } from '../element.js'
import type { PickedColumn } from '../explorer/column-picker.js'
import { words } from '../page-words.js'
import { ownToken } from '../tab-store.js'
import { tokenBar } from '../token-form.js'
import { askWith, sayProblem, sleep } from './ask-list.js'
import { checkList } from './check-view.js'
import { listForm } from './list-form.js'
import type { ListDataset } from './list-form.js'

/** Starts the page that adds columns of a dataset to a list of keys. */
export function startList(place: HTMLElement): void {
  const { demoToken = '' } = place.dataset
  const open = () => {
    const token = ownToken() ?? demoToken
    const bar = tokenBar(demoToken !== '', open)
    place.replaceChildren(bar)
    if (token !== '') void show(place, bar, token)
  }
  open()
}

/** Asks what the token sees of the dataset, and shows the form. */
async function show(place: HTMLElement, bar: HTMLElement, token: string): Promise<void> {
  const status = element('p', { role: 'status', class: 'status' }, words.running)
  place.append(status)
  const { signal } = new AbortController()
  const ask = askWith(token, signal, () => undefined)
  try {
    const { dataset: name = '' } = place.dataset
    const facts = await readFacts(ask, name, (ms) => sleep(ms, signal))
    const dataset = { ...datasetOf(place, facts), token }
    status.remove()
    const result = element('div')
    const form = listForm(dataset, async (choice) => {
      const busy = (isBusy: boolean) => {
        for (const each of [bar, form]) each.inert = isBusy
      }
      result.replaceChildren(await checkList(dataset, choice, busy))
      result.querySelector('h2')?.focus()
    })
    form.addEventListener('input', () => {
      result.replaceChildren()
    })
    place.append(form, result)
  } catch (cause) {
    sayProblem(status, cause)
  }
}

function datasetOf({ dataset: data }: HTMLElement, facts: DatasetFacts) {
  const shown = JSON.parse(data['columns'] ?? '[]') as readonly PickedColumn[]
  const texts = new Map(shown.map((column) => [column.name, column]))
  const key = keyColumn(facts, data['key'] ?? '')
  const { history } = facts
  const isKnown = history === null || historyValues(facts, []) !== null
  const label = texts.get(key.name)?.label ?? ''
  return {
    facts,
    name: data['dataset'] ?? '',
    hasAggregates: data['aggregates'] === 'on',
    first: JSON.parse(data['first'] ?? '[]') as readonly string[],
    columns: facts.columns
      .filter(({ name }) => name !== key.name)
      .map(({ name }) => texts.get(name) ?? { name, label: '', section: '', description: '' }),
    matches: [
      ...(isKnown ? (['newest'] as const) : []),
      'all' as const,
      ...(history === null ? [] : (['wide'] as const)),
    ],
    keyColumn: key,
    keys: {
      key: key.name,
      names: [key.name, label].map((name) => name.toLowerCase()).filter((name) => name !== ''),
      isChecked: key.check !== undefined,
      judge: keyJudge(key, false),
    },
  } satisfies Omit<ListDataset, 'token'>
}
