import { keyColumn } from '../../../lists/dataset-facts.js'
import type { DatasetFacts } from '../../../lists/dataset-facts.js'
import { keyJudge } from '../../../lists/judge-key.js'
import type { PickedColumn } from '../explorer/column-picker.js'

/** The dataset of the page, as its token sees it. */
export type ListDataset = ReturnType<typeof datasetOf>

/** Reads what the server wrote of the dataset into the page. */
export function datasetOf({ dataset: data }: HTMLElement, token: string, facts: DatasetFacts) {
  const shown = JSON.parse(data['columns'] ?? '[]') as readonly PickedColumn[]
  const key = keyColumn(facts, data['key'] ?? '')
  const label = shown.find(({ name }) => name === key.name)?.label || key.name
  return {
    ...{ token, facts, key, name: data['dataset'] ?? '' },
    hasAggregates: data['aggregates'] === 'on',
    headings: [key.name, label].map((name) => name.toLowerCase()),
    judge: keyJudge(key, false),
    columns: shown.filter(({ name }) => facts.columns.some((each) => each.name === name)),
    first: JSON.parse(data['first'] ?? '[]') as readonly string[],
  }
}
