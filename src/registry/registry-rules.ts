import { didYouMean, quoted } from '../text.js'
import { measureProblems } from './measure-rules.js'
import { isRecord, problemAt, recordOf } from './shape.js'
import type { ShapeProblem } from './shape.js'

const datasetName = /^[a-z0-9_]{1,64}$/
const levelName = /^[a-z][a-z0-9_]{0,31}$/
const planName = /^[a-z0-9_-]{1,32}$/
/** `/v1/account` is the account's address. */
const reservedDatasetName = 'account'
/** Of addresses that are newer than datasets of these names, which are still served. */
const laterReservedNames: readonly string[] = ['find', 'watch', 'webhooks', 'session']

/** Names that a new dataset can't have. */
export const reservedDatasetNames: readonly string[] = [reservedDatasetName, ...laterReservedNames]

/**
 * Mistakes that a schema can't express: names that don't fit addresses, headers and commands, and
 * keys that contradict each other. The content may have any shape.
 */
export function ruleProblems(content: unknown): readonly ShapeProblem[] {
  const datasets = recordOf(recordOf(content)['datasets'])
  return Object.entries(datasets).flatMap(([name, dataset]) => {
    const path = ['datasets', name]
    const entry = recordOf(dataset)
    const plans = Object.entries(recordOf(entry['plans'])).filter(([, plan]) => isRecord(plan))
    return [
      ...datasetNameProblems(name, path),
      ...(isRecord(dataset) ? sourceProblems(entry, path) : []),
      ...limitProblems(recordOf(entry['limit']), path),
      ...linkProblems(entry, Object.keys(datasets), [...path, 'links']),
      ...measureProblems(entry['measures'], [...path, 'measures']),
      ...Object.entries(recordOf(entry['columns'])).flatMap(([column, value]) =>
        levelProblems(recordOf(value), [...path, 'columns', column, 'levels']),
      ),
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
  if (name === reservedDatasetName) {
    return [problemAt(path, 'the name is reserved; choose another.')]
  }
  if (datasetName.test(name)) return []
  return [problemAt(path, 'a dataset name must be 1 to 64 characters of a-z, 0-9 and "_".')]
}

/** A dataset is made of files, or it is a table of a cluster. */
function sourceProblems(
  entry: Readonly<Record<string, unknown>>,
  path: readonly string[],
): readonly ShapeProblem[] {
  const { files, engine, table, key, lookups, pack, columns } = entry
  const missing = (key: string, message: string) => [problemAt(path, message, key)]
  const ofFiles = (place: readonly string[], why: string) =>
    problemAt([...path, ...place], `is for files; ${why}`)
  if (engine === undefined && table === undefined) {
    return files === undefined ? missing('files', 'is missing.') : []
  }
  if (engine === undefined) return missing('engine', 'is missing: add "engine: {trino: URL}".')
  if (table === undefined) return missing('table', 'is missing: add "table: catalog.schema.table".')
  if (files !== undefined) return [ofFiles(['files'], 'there is a table.')]
  const searched = Object.entries(recordOf(columns)).filter(
    ([, column]) => recordOf(column)['search'] === true,
  )
  return [
    ...(key === undefined
      ? missing('key', 'is missing: list the columns that are unique together; they order rows.')
      : []),
    ...(pack === 'auto' ? [ofFiles(['pack'], 'a table is not packed.')] : []),
    ...(lookups === undefined ? [] : [ofFiles(['lookups'], 'a table finds rows itself.')]),
    ...searched.map(([column]) => ofFiles(['columns', column, 'search'], 'remove it.')),
  ]
}

function limitProblems(
  limit: Readonly<Record<string, unknown>>,
  path: readonly string[],
): readonly ShapeProblem[] {
  const { default: usual, max } = limit
  if (typeof usual !== 'number' || typeof max !== 'number' || usual <= max) return []
  return [
    problemAt([...path, 'limit', 'default'], `must be at most limit.max (${max}), got ${usual}.`),
  ]
}

/** Which columns the other dataset has is known when its files are open: `catalog/links.ts`. */
function linkProblems(
  { links, entity }: Readonly<Record<string, unknown>>,
  datasets: readonly string[],
  path: readonly string[],
): readonly ShapeProblem[] {
  if (links === undefined) return []
  if (entity === undefined) {
    return [problemAt(path, 'needs an entity: add "entity: {key: <column>}" to the dataset.')]
  }
  const { key } = recordOf(entity)
  return Object.entries(recordOf(links)).flatMap(([name, columns]) => {
    if (!datasets.includes(name)) {
      const near = didYouMean(name, datasets)
      return [problemAt([...path, name], `there is no dataset ${quoted(name)}.${near}`)]
    }
    return Object.entries(recordOf(columns))
      .filter(([, own]) => typeof own === 'string' && own !== key)
      .map(([column, own]) => {
        const meant = quoted(String(key))
        const message = `must be the key of the entity, ${meant}, got ${quoted(String(own))}.`
        return problemAt([...path, name, column], message)
      })
  })
}

function levelProblems(
  { levels, labels }: Readonly<Record<string, unknown>>,
  path: readonly string[],
): readonly ShapeProblem[] {
  const entries = Object.entries(recordOf(levels)).map(([name, level]) => {
    const { chars, column } = recordOf(level)
    const isOne = (chars === undefined) !== (column === undefined)
    return [name, isRecord(level) ? (isOne ? (chars ?? column) : null) : level] as const
  })
  const lengths = entries.map(([, length]) => length)
  return entries.flatMap(([name, length], index) => {
    if (!levelName.test(name)) {
      const message = 'a level name must be 1 to 32 of a-z, 0-9 and "_", a letter first.'
      return [problemAt([...path, name], message)]
    }
    if (typeof length === 'string' && labels === undefined) {
      const message = `needs the file with the column ${length}: add "labels: <file>".`
      return [problemAt([...path, name], message)]
    }
    if (length === null) {
      return [problemAt([...path, name], 'needs one of chars and column.')]
    }
    const first = lengths.indexOf(length)
    if (first === index) return []
    const what = typeof length === 'string' ? 'column' : 'length'
    return [problemAt([...path, name], `${entries[first]?.[0]} has the same ${what}; keep one.`)]
  })
}

function planProblems(
  name: string,
  plan: Readonly<Record<string, unknown>>,
  lacksHistory: boolean,
  path: readonly string[],
): readonly ShapeProblem[] {
  const problems: ShapeProblem[] = []
  if (!planName.test(name)) {
    problems.push(
      problemAt(path, 'a plan name must be 1 to 32 characters of a-z, 0-9, "_" and "-".'),
    )
  }
  if (lacksHistory && typeof plan['history'] === 'number') {
    problems.push(
      problemAt(
        [...path, 'history'],
        'needs a history column: add "history: <column>" to the dataset.',
      ),
    )
  }
  if (!lacksHistory && plan['history'] === undefined) {
    const message = 'is missing: the number of latest years that the plan sees, or "all".'
    problems.push(problemAt(path, message, 'history'))
  }
  return problems
}

/** What is served, but hardly as its owner meant it. */
export function ruleWarnings(content: unknown): readonly ShapeProblem[] {
  const { demo, datasets } = recordOf(content)
  return Object.entries(recordOf(datasets)).flatMap(([name, dataset]) => {
    const path = ['datasets', name]
    const unseen =
      'no token sees this subset: add "demo: {token: das_demo_…}" to the registry, beside datasets'
    const reserved = 'the name is reserved, and the next release refuses it; choose another.'
    const isUnseen = demo === undefined && recordOf(dataset)['demo'] !== undefined
    return [
      ...(laterReservedNames.includes(name) ? [problemAt(path, reserved)] : []),
      ...(isUnseen ? [problemAt([...path, 'demo'], unseen)] : []),
    ]
  })
}
