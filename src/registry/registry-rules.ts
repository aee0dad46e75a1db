import { recordOf } from './shape.js'
import type { ShapeProblem } from './shape.js'

const datasetName = /^[a-z0-9_]{1,64}$/
const planName = /^[a-z0-9_-]{1,32}$/
/** `/v1/account` is the account's address. */
const reservedDatasetName = 'account'

/**
 * Mistakes that a schema can't express: names that don't fit addresses, headers and commands, and
 * keys that contradict each other. The content may have any shape.
 */
export function ruleProblems(content: unknown): readonly ShapeProblem[] {
  return Object.entries(recordOf(recordOf(content)['datasets'])).flatMap(([name, dataset]) => {
    const path = ['datasets', name]
    const entry = recordOf(dataset)
    const plans = Object.entries(recordOf(entry['plans']))
    return [
      ...datasetNameProblems(name, path),
      ...limitProblems(recordOf(entry['limit']), path),
      ...plans.flatMap(([plan, value]) =>
        planProblems(plan, recordOf(value), entry['history'] === undefined, [
          ...path,
          'plans',
          plan,
        ]),
      ),
    ]
  })
}

function datasetNameProblems(name: string, path: readonly string[]): readonly ShapeProblem[] {
  if (name === reservedDatasetName) return [problem(path, 'the name is reserved; choose another.')]
  if (datasetName.test(name)) return []
  return [problem(path, 'a dataset name must be 1 to 64 characters of a-z, 0-9 and "_".')]
}

function limitProblems(
  limit: Readonly<Record<string, unknown>>,
  path: readonly string[],
): readonly ShapeProblem[] {
  const { default: usual, max } = limit
  if (typeof usual !== 'number' || typeof max !== 'number' || usual <= max) return []
  return [
    problem([...path, 'limit', 'default'], `must be at most limit.max (${max}), got ${usual}.`),
  ]
}

function planProblems(
  name: string,
  plan: Readonly<Record<string, unknown>>,
  lacksHistory: boolean,
  path: readonly string[],
): readonly ShapeProblem[] {
  const problems: ShapeProblem[] = []
  if (!planName.test(name)) {
    problems.push(problem(path, 'a plan name must be 1 to 32 characters of a-z, 0-9, "_" and "-".'))
  }
  if (lacksHistory && typeof plan['history'] === 'number') {
    problems.push(
      problem(
        [...path, 'history'],
        'needs a history column: add "history: <column>" to the dataset.',
      ),
    )
  }
  return problems
}

function problem(path: readonly string[], message: string): ShapeProblem {
  return { path, name: path.join('.'), message }
}
