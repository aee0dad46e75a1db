import { recordOf } from './shape.js'
import type { ShapeProblem } from './shape.js'

const datasetName = /^[a-z0-9_]{1,64}$/
const planName = /^[a-z0-9_-]{1,32}$/
/** `/v1/account` is an address of its own. */
const reservedDatasetName = 'account'

/**
 * What a schema can't say: the narrow alphabet of names that stand in addresses, headers and
 * commands, and keys that must agree with each other. The content may have any shape.
 */
export function ruleProblems(content: unknown): readonly ShapeProblem[] {
  return Object.entries(recordOf(recordOf(content)['datasets'])).flatMap(([name, dataset]) => {
    const path = ['datasets', name]
    const entry = recordOf(dataset)
    const plans = Object.entries(recordOf(entry['plans']))
    return [
      ...datasetNameProblems(name, path),
      ...limitProblems(recordOf(entry['limit']), path),
      ...plans.flatMap(([plan, said]) =>
        planProblems(plan, recordOf(said), entry['history'] === undefined, [
          ...path,
          'plans',
          plan,
        ]),
      ),
    ]
  })
}

function datasetNameProblems(name: string, path: readonly string[]): readonly ShapeProblem[] {
  if (name === reservedDatasetName) return [problem(path, 'the name is reserved.')]
  if (datasetName.test(name)) return []
  return [problem(path, 'a dataset\'s name is 1 to 64 of a-z, 0-9 and "_".')]
}

function limitProblems(
  limit: Readonly<Record<string, unknown>>,
  path: readonly string[],
): readonly ShapeProblem[] {
  const { default: usual, max } = limit
  if (typeof usual !== 'number' || typeof max !== 'number' || usual <= max) return []
  return [problem([...path, 'limit', 'default'], `${usual} is more than the max, ${max}.`)]
}

function planProblems(
  name: string,
  plan: Readonly<Record<string, unknown>>,
  lacksHistory: boolean,
  path: readonly string[],
): readonly ShapeProblem[] {
  const problems: ShapeProblem[] = []
  if (!planName.test(name)) {
    problems.push(problem(path, 'a plan\'s name is 1 to 32 of a-z, 0-9, "_" and "-".'))
  }
  if (lacksHistory && typeof plan['history'] === 'number') {
    problems.push(
      problem([...path, 'history'], 'counts years, but the dataset names no "history" column.'),
    )
  }
  return problems
}

function problem(path: readonly string[], message: string): ShapeProblem {
  return { path, name: path.join('.'), message }
}
