import type { Column } from '../columns/column.js'
import { didYouMean, quoted } from '../text.js'
import type { Dictionary } from './dictionary.js'
import type { Problem } from './problem.js'
import type { DatasetEntry } from './registry-schema.js'

/** Names that would clash with a request's own parameters. */
export const reservedNames: readonly string[] = ['select', 'limit', 'cursor', 'format']
/** Names that the engine gives to a row's place; a file's own column would hide it. */
const positionNames: readonly string[] = ['file_row_number', 'file_index']

/** Columns that the registry or the dictionary speaks of and no file has. */
export function unknownNameProblems(
  names: ReadonlySet<string>,
  entry: DatasetEntry,
  dictionary: Dictionary,
): readonly Problem[] {
  const inRegistry = Object.keys(entry.columns ?? {}).map((name) => ({
    name,
    path: ['columns', name],
    where: '',
  }))
  const inDictionary = [...dictionary].map(([name, { line }]) => ({
    name,
    path: ['dictionary'],
    where: `line ${line} of ${entry.dictionary}: `,
  }))
  return [...inRegistry, ...inDictionary]
    .filter(({ name }) => !names.has(name))
    .map(({ name, path, where }) => ({
      path,
      message: `${where}the files have no column ${quoted(name)}.${didYouMean(name, names)}`,
    }))
}

/** Names that can't stand in a request, or that a request couldn't tell apart. */
export function nameProblems(columns: readonly Column[]): readonly Problem[] {
  const problems: Problem[] = []
  const seen = new Map<string, Column>()
  for (const column of columns) {
    const message = nameProblem(column, seen)
    const isRenamed = column.name !== column.source
    const path = isRenamed ? ['columns', column.source, 'name'] : ['files']
    if (message !== undefined) problems.push({ path, message })
    seen.set(column.name.toLowerCase(), column)
  }
  return problems
}

function nameProblem(column: Column, seen: ReadonlyMap<string, Column>): string | undefined {
  const { name, source } = column
  const rename = `rename it: columns: {${JSON.stringify(source)}: {name: …}}`
  if (source === '') return 'a column has no name'
  if (positionNames.includes(source.toLowerCase())) {
    return `column "${source}" has a name that the engine uses itself; drop it from the files`
  }
  if (reservedNames.includes(name)) {
    return `column "${name}" clashes with the request parameter of that name; ${rename}`
  }
  const twin = seen.get(name.toLowerCase())
  if (!twin) return undefined
  return twin.name === name
    ? `two columns have the name "${name}": "${twin.source}" and "${source}"`
    : `columns "${twin.name}" and "${name}" differ in case only; ${rename}`
}
