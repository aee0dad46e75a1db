import { badRequest } from '../errors.js'
import type { ListQuestion } from './ask-keys.js'
import { columnOf, newestSteps } from './dataset-facts.js'
import type { DatasetFacts } from './dataset-facts.js'

/** How a list is asked; a run that goes on keeps it. */
export interface ListPlan extends Pick<ListQuestion, 'steps' | 'select'> {
  /** The columns to add. */
  readonly wanted: readonly string[]
}

interface WantedList extends Pick<ListQuestion, 'key' | 'match' | 'where'> {
  /** Null = all. */
  readonly select: readonly string[] | null
}

/**
 * Plans how a list is asked.
 * @throws bad_request for columns that are not there, or a dataset without a history column
 */
export function planOf({ key, match, where, select }: WantedList, facts: DatasetFacts): ListPlan {
  const { history, columns } = facts
  if (match === 'wide' && history === null) {
    throw badRequest('--match wide needs a dataset with a history column: take all.')
  }
  for (const name of select ?? []) columnOf(facts, name, '--select')
  for (const { column } of where) columnOf(facts, column, '--where')
  const inNames = match === 'wide' ? [key, history] : [key]
  const others = columns.map(({ name }) => name).filter((name) => !inNames.includes(name))
  const wanted = [...new Set(select ?? others)]
  const asked = match === 'wide' ? [key, history ?? '', ...wanted] : [key, ...wanted]
  const steps = match === 'newest' ? newestSteps(facts, where) : [[]]
  return { wanted, select: [...new Set(asked)], steps }
}
