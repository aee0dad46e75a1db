import type { Column } from '../columns/column.js'
import { didYouMean, quoted } from '../text.js'
import type { Dictionary } from './dictionary.js'
import type { DatasetEntry } from './registry-schema.js'
import type { Problem } from './registry.js'

/** Names of request parameters. */
export const reservedNames: readonly string[] = ['select', 'limit', 'cursor', 'format']
/** Other parameters: where they are one, a filter on such a column needs POST or MCP. */
export const parameterNames: readonly string[] = [
  'group',
  'measures',
  'having',
  'order',
  'pivot',
  'rest',
  'labels',
  'by',
  'q',
  'since',
  'watch',
  'header',
  'lang',
  'excel',
  'explain',
]
/** The engine's names for a row's position; a column of this name would hide it. */
const positionNames: readonly string[] = ['file_row_number', 'file_index']

/** Finds a column by its shown name; adds a problem at `path` if there is no such column. */
export type FindColumn = (name: string, path: Problem['path']) => Column | undefined

/** Finds the columns that `key`, `history` and `demo` name. */
export function columnFinder(columns: readonly Column[], problems: Problem[]): FindColumn {
  const byName = new Map(columns.map((column) => [column.name, column]))
  return (name, path) => {
    const column = byName.get(name)
    if (!column) {
      const near = didYouMean(name, byName.keys())
      problems.push({ path, message: `there is no column ${quoted(name)}.${near}` })
    }
    return column
  }
}

/** Columns that the registry or the dictionary names and no file has. */
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

/** Names that a request can't use, or can't tell apart. */
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
  if (source === '') return 'a column has no name; give it one in the files'
  if (positionNames.includes(source.toLowerCase())) {
    return `column "${source}" has a name that the engine uses itself; remove it from the files`
  }
  if (reservedNames.includes(name)) {
    return `column "${name}" clashes with the request parameter of that name; ${rename}`
  }
  const twin = seen.get(name.toLowerCase())
  if (!twin) return undefined
  return twin.name === name
    ? `two columns have the name "${name}": "${twin.source}" and "${source}"; ${rename}`
    : `columns "${twin.name}" and "${name}" differ in case only; ${rename}`
}
