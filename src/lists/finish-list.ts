import { many } from '../text.js'
import type { Answers } from './answers.js'
import type { ListQuestion } from './ask-keys.js'
import type { DatasetFacts } from './dataset-facts.js'
import type { JudgeCell } from './judge-key.js'
import type { ListPlan } from './list-plan.js'
import { freeNames, newColumns, statusName } from './new-columns.js'
import type { ListFile } from './open-list.js'
import type { ListKeys } from './read-keys.js'
import { writeList } from './write-list.js'
import type { Save, WrittenList } from './write-list.js'

/** What was asked, and what was found. */
interface FoundRows extends ListPlan, Pick<ListQuestion, 'dataset' | 'match'> {
  readonly facts: DatasetFacts
  readonly answers: Answers
}

/** Writes a list with what was found; keys that are unfinished have the status of that name. */
export async function finishList(
  list: ListFile,
  read: ListKeys,
  judge: JudgeCell,
  { facts, answers, ...plan }: FoundRows,
  save: Save,
  isUnfinished: (key: string) => boolean = () => false,
): Promise<WrittenList> {
  const types = new Map(facts.columns.map(({ name, type }) => [name, type]))
  const wanted = plan.wanted.map((name) => ({ name, type: types.get(name) ?? 'string' }) as const)
  const columns = newColumns(plan, wanted, facts.history, [...read.keys], answers)
  const names = freeNames(list, read, [...columns.names, statusName], plan.dataset)
  const written = await writeList(list, read, judge, columns, names, save, isUnfinished)
  const { versions } = answers
  const rows = many(columns.spare, 'row')
  const notes = [
    ...list.notes,
    ...written.notes,
    ...(versions.size > 1
      ? [`the data changed meanwhile: versions ${[...versions].join(', ')}`]
      : []),
    ...(columns.spare > 0 ? [`${rows} of keys with several rows are not shown`] : []),
  ]
  return { ...written, notes }
}
